import type { TerminalId } from '@outrider/domain';
import type { RefusalReason } from '../protocol.ts';
import { FrameBuilder } from './frame-builder.ts';
import { KIND, type StreamPacket } from './packet.ts';
import { PacketReader } from './packet-reader.ts';
import { SequenceWindow } from './sequence-window.ts';

/** Codec of a frame. */
export type StreamCodec = 'h264' | 'h265' | 'g711a' | 'g711u' | 'aac' | 'adpcm' | `other-${number}`;

/** A video frame, an audio frame, or data that the standard does not define. */
export interface StreamFrame {
  kind: keyof typeof KIND;
  codec: StreamCodec;
  /** Milliseconds since a time that the terminal chooses. */
  timestampMs: number;
  data: Buffer;
}

export type StreamMessage =
  /**
   * The source of this stream, by the number in its packets (see `terminalIdsOf`); reported once, before its first
   * frame.
   */
  | { type: 'source'; terminalId: TerminalId; channel: number }
  | { type: 'frame'; frame: StreamFrame }
  /** The connection must be closed; no message follows. */
  | { type: 'refuse'; reason: RefusalReason; detail: string };

/** Counts of losses and irregularities in the stream up to now. */
export interface StreamLosses {
  /** Packets accepted. */
  packets: number;
  /** Sequence numbers whose packet did not arrive in time. */
  packetsLost: number;
  /** Packets that arrived after a later one. Those in time were put into their place. */
  packetsReordered: number;
  packetsRepeated: number;
  /** How often the sequence restarted. */
  restarts: number;
  /** Incomplete frames, of which only some parts arrived. */
  framesLost: number;
  /** Packets of another terminal or channel than that of the first packet. */
  packetsOfOthers: number;
  /** Bytes outside of any complete packet. */
  bytesSkipped: number;
}

const CODECS: Readonly<Record<number, StreamCodec>> = {
  6: 'g711a',
  7: 'g711u',
  19: 'aac',
  26: 'adpcm',
  98: 'h264',
  99: 'h265',
};
const KINDS = Object.keys(KIND) as (keyof typeof KIND)[];

/** The payload type of a codec in a packet. */
export function payloadTypeOf(codec: StreamCodec): number {
  for (const [type, named] of Object.entries(CODECS)) if (named === codec) return Number(type);
  return Number(codec.slice('other-'.length));
}

/**
 * Reassembles the frames of one media connection (JT/T 1078): orders packets by sequence number, joins their parts and
 * counts losses. Never throws, whatever the input; held memory is bounded. Frames share no memory with pushed chunks.
 */
export class PlaybackReassembler {
  readonly #reader = new PacketReader();
  readonly #window = new SequenceWindow();
  readonly #video = new FrameBuilder();
  readonly #audio = new FrameBuilder();
  readonly #data = new FrameBuilder();
  #source: { phone: string; channel: number } | null = null;
  #packetsOfOthers = 0;
  #packets = 0;
  #refused = false;
  #out: StreamMessage[] = [];
  readonly #take = (packet: StreamPacket): void => this.#takePacket(packet);
  readonly #inTurn = (packet: StreamPacket, afterGap: boolean): void => this.#build(packet, afterGap);

  /** Takes bytes split at any point. */
  push(chunk: Buffer): StreamMessage[] {
    this.#out = [];
    if (this.#refused) return this.#out;
    this.#reader.push(chunk, this.#take);
    return this.#reported();
  }

  /** Ends the input and returns the frames that were waiting for more packets. */
  end(): StreamMessage[] {
    this.#out = [];
    if (this.#refused) return this.#out;
    this.#reader.end(this.#take);
    this.#window.flush(this.#inTurn);
    for (const builder of [this.#video, this.#audio, this.#data]) builder.abandon();
    return this.#reported();
  }

  losses(): StreamLosses {
    const { lost, reordered, repeated, restarts } = this.#window;
    return {
      packets: this.#packets,
      packetsLost: lost,
      packetsReordered: reordered,
      packetsRepeated: repeated,
      restarts,
      framesLost: this.#video.lost + this.#audio.lost,
      packetsOfOthers: this.#packetsOfOthers,
      bytesSkipped: this.#reader.bytesSkipped,
    };
  }

  /** Bytes currently held of incomplete frames and of packets out of order. */
  get heldBytes(): number {
    const building = this.#video.heldBytes + this.#audio.heldBytes + this.#data.heldBytes;
    return this.#reader.heldBytes + this.#window.heldBytes + building;
  }

  #reported(): StreamMessage[] {
    if (this.#reader.failed) {
      this.#refused = true;
      this.#out.push({ type: 'refuse', reason: 'bad-frame', detail: 'too many bytes that belong to no packet' });
    }
    return this.#out;
  }

  #takePacket(packet: StreamPacket): void {
    const { phone, channel } = packet;
    if (this.#source === null) {
      this.#source = { phone, channel };
      this.#out.push({ type: 'source', terminalId: phone as TerminalId, channel });
    } else if (this.#source.phone !== phone || this.#source.channel !== channel) {
      this.#packetsOfOthers++;
      return;
    }
    this.#packets++;
    this.#window.add(packet, this.#inTurn);
  }

  #build(packet: StreamPacket, afterGap: boolean): void {
    if (afterGap) for (const builder of [this.#video, this.#audio, this.#data]) builder.breakOff();
    const builder =
      packet.kind <= KIND.bidirectional ? this.#video : packet.kind === KIND.audio ? this.#audio : this.#data;
    const data = builder.add(packet);
    if (data === null) return;
    const { kind, payloadType, timestampMs } = builder.frame;
    const codec = CODECS[payloadType] ?? `other-${payloadType}`;
    this.#out.push({
      type: 'frame',
      frame: { kind: KINDS[kind] ?? 'data', codec, timestampMs, data },
    });
  }
}
