import type { Position, TerminalId } from '@outrider/domain';
import { FramedSession } from '../framed-session.ts';
import type { Inbound } from '../protocol.ts';
import { buildNumberFrame, COMMAND, type FrameFault, FrameReader, MAX_FRAME_BYTES } from './frame.ts';
import { readMessage } from './message.ts';
import { WireReader } from './protobuf.ts';
import { RecordNumbers } from './record-numbers.ts';

/** Number of the record (4), time (4), priority (1). */
const RECORD_HEADER_BYTES = 9;
/** Identifier (4), firmware version (4). */
const IDENTIFICATION_BYTES = 8;

const FAULTS: Record<FrameFault, string> = {
  'bad-frame': 'bytes that no frame can have here',
  'bad-length': 'a frame with more data than is taken',
  'bad-checksum': 'the checksum of a frame is wrong',
};

// Shared by all sessions: each call of `push` is done with them before it returns.
const frame = new FrameReader();
const message = new WireReader();

/**
 * Omnicomm: the terminal identifies itself and is asked for its archive from where it left off. Each record is
 * confirmed with the number of the next one, which allows the terminal to delete all records before it. After a gap in
 * the numbers the terminal is asked for the missing records, see {@link RecordNumbers}. Frames of other commands are
 * unknown packets without positions, and are not answered.
 */
export class OmnicommSession extends FramedSession {
  #terminalId: TerminalId | null = null;
  /** Minimum number of bytes before the frame is read again: with fewer it is certainly incomplete. */
  #needed = 0;
  readonly #numbers = new RecordNumbers();

  constructor() {
    super(MAX_FRAME_BYTES);
  }

  protected override take(bytes: Buffer, from: number, _nowMs: number, out: Inbound[]): number {
    const available = bytes.length - from;
    if (available < this.#needed) return 0;
    const taken = frame.read(bytes, from);
    if (taken === 0) {
      if (frame.fault !== null) return this.refuse(out, frame.fault, FAULTS[frame.fault]);
      this.#needed = available + frame.missing;
      return 0;
    }
    this.#needed = 0;

    if (frame.command === COMMAND.identification) return this.#identify(out) ? taken : 0;
    if (this.#terminalId === null)
      return this.refuse(out, 'not-identified', `command ${hex(frame.command)} before 0x80`);
    if (frame.command === COMMAND.archiveData) return this.#takeRecord(out) ? taken : 0;
    out.push({ type: 'positions', positions: [], ack: null });
    return taken;
  }

  #identify(out: Inbound[]): boolean {
    const { bytes, dataStart, dataEnd, checksumOrder } = frame;
    if (dataEnd - dataStart < IDENTIFICATION_BYTES) {
      this.refuse(out, 'bad-content', `an identification of ${dataEnd - dataStart} bytes`);
      return false;
    }
    const terminalId = String(bytes.readUInt32LE(dataStart)) as TerminalId;
    const accept = buildNumberFrame(COMMAND.archiveRequest, 0, checksumOrder);
    if (this.#terminalId === null) {
      this.#terminalId = terminalId;
      out.push({ type: 'identify', terminalId, accept, reject: null });
    } else if (this.#terminalId === terminalId) out.push({ type: 'reply', bytes: accept });
    else {
      this.refuse(out, 'bad-content', `terminal ${this.#terminalId} now says that it is ${terminalId}`);
      return false;
    }
    return true;
  }

  #takeRecord(out: Inbound[]): boolean {
    const { bytes, dataStart, dataEnd, checksumOrder } = frame;
    if (dataEnd - dataStart < RECORD_HEADER_BYTES) {
      this.refuse(out, 'bad-content', `a record of ${dataEnd - dataStart} bytes`);
      return false;
    }
    const number = bytes.readUInt32LE(dataStart);
    const seconds = bytes.readUInt32LE(dataStart + 4);
    const positions: Position[] = [];
    let p = dataStart + RECORD_HEADER_BYTES;
    while (p < dataEnd) {
      const length = dataEnd - p >= 2 ? bytes.readUInt16LE(p) : Number.NaN;
      p += 2;
      if (!(length <= dataEnd - p)) {
        this.refuse(out, 'bad-content', `a message of record ${number} is cut off`);
        return false;
      }
      message.open(bytes, p, p + length);
      const position = readMessage(message, seconds);
      if (message.failed) {
        this.refuse(out, 'bad-content', `message ${positions.length + 1} of record ${number} can't be read`);
        return false;
      }
      if (position !== null) positions.push(position);
      p += length;
    }
    const { isRepeated, confirmed, askedFrom } = this.#numbers.take(number);
    const ack = confirmed === null ? null : buildNumberFrame(COMMAND.archiveDurable, confirmed, checksumOrder);
    out.push({ type: 'positions', positions: isRepeated ? [] : positions, ack });
    if (askedFrom !== null)
      out.push({ type: 'reply', bytes: buildNumberFrame(COMMAND.archiveRequest, askedFrom, checksumOrder) });
    return true;
  }
}

function hex(byte: number): string {
  return `0x${byte.toString(16).padStart(2, '0')}`;
}
