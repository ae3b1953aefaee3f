import { buildPacket, KIND, PART, type PhoneForm, type StreamPacket } from './packet.ts';
import { payloadTypeOf, type StreamFrame } from './reassembler.ts';

/** The standard's maximum payload of a packet. */
export const PAYLOAD_BYTES = 950;

/** A terminal's side of a stream: frames in, numbered packets out. */
export class StreamWriter {
  readonly #phone: string;
  readonly #form: PhoneForm;
  readonly #channel: number;
  readonly #payloadBytes: number;
  #sequence: number;
  #keyFrameMs: number | null = null;
  #frameMs: number | null = null;

  constructor(
    phone: string,
    channel: number,
    {
      form = 6,
      firstSequence = 0,
      payloadBytes = PAYLOAD_BYTES,
    }: { form?: PhoneForm; firstSequence?: number; payloadBytes?: number } = {},
  ) {
    this.#phone = phone;
    this.#form = form;
    this.#channel = channel;
    this.#sequence = firstSequence;
    this.#payloadBytes = payloadBytes;
  }

  /** The packets of a frame, in their order. */
  write(frame: StreamFrame): Buffer[] {
    const { data, timestampMs } = frame;
    const kind = KIND[frame.kind];
    const count = Math.max(1, Math.ceil(data.length / this.#payloadBytes));
    if (frame.kind === 'key') this.#keyFrameMs = timestampMs;
    const gaps = {
      toKeyFrameMs: Math.max(0, timestampMs - (this.#keyFrameMs ?? timestampMs)),
      toFrameMs: Math.max(0, timestampMs - (this.#frameMs ?? timestampMs)),
    };
    if (kind <= KIND.bidirectional) this.#frameMs = timestampMs;
    const packets: Buffer[] = [];
    for (let i = 0; i < count; i++) {
      const packet: StreamPacket = {
        payloadType: payloadTypeOf(frame.codec),
        marker: i === count - 1,
        sequence: this.#sequence,
        phone: this.#phone,
        channel: this.#channel,
        kind,
        part: count === 1 ? PART.whole : i === 0 ? PART.first : i === count - 1 ? PART.last : PART.middle,
        timestampMs,
        payload: data.subarray(i * this.#payloadBytes, (i + 1) * this.#payloadBytes),
      };
      packets.push(buildPacket(packet, this.#form, gaps));
      this.#sequence = (this.#sequence + 1) & 0xffff;
    }
    return packets;
  }
}
