import { createHmac, randomBytes } from 'node:crypto';
import {
  type Position,
  type TerminalAnswer,
  type TerminalCommand,
  type TerminalId,
  terminalIdsOf,
} from '@outrider/domain';
import { FramedSession } from '../framed-session.ts';
import type { Inbound, SentCommand, SessionOptions, TerminalCodes } from '../protocol.ts';
import { CLOCK_OFFSET_MS, timeBytes } from './bcd.ts';
import { encodeCommand, readRecordings } from './commands.ts';
import {
  buildMessage,
  type Edition,
  FLAG,
  type FrameFault,
  type Header,
  MAX_FRAME_BYTES,
  type Message,
  readMessage,
} from './frame.ts';
import { readLocation } from './location.ts';
import { MESSAGE, REGISTRATION, RESULT } from './message-ids.ts';
import { encodeOrder } from './orders.ts';
import { Reassembly } from './reassembly.ts';
import { readDriver, readProperties, readTransparent, readVin } from './reports.ts';

/** A terminal with a wrong code registers again. One that keeps failing is disconnected. */
const MAX_FAILED_AUTHORIZATIONS = 3;
const CODE_LENGTH = 16;
/** Province and city, at the beginning of a registration. */
const REGISTERED_PLACE_BYTES = 4;

const FAULTS: Record<FrameFault, string> = {
  'bad-frame': 'bytes that no message can have here',
  'bad-length': 'the length of a message is not what it says',
  'bad-checksum': 'the checksum of a message is wrong',
  'bad-content': 'a count of packets that is none',
  unsupported: 'an encrypted message',
};

/** Fallback where no secret is configured: codes are then valid for this process only. */
const ownSecret = randomBytes(32);

/** The authorization code of a registered terminal: derived from its number, so that it need not be stored. */
export function authorizationCode(secret: string | Buffer, phone: string): string {
  return createHmac('sha256', secret).update(phone).digest('hex').slice(0, CODE_LENGTH);
}

/**
 * JT/T 808, editions of 2013 and 2019, with the messages of JT/T 1078 about recorded video. A terminal is identified by
 * its phone number without leading zeros, or by the number that its maker put there, see {@link terminalIdsOf}.
 *
 * It registers (0x0100) and receives a code (0x8100), which it presents when it connects again (0x0102). Where the code
 * is required ({@link TerminalCodes.isNeeded}), a wrong one is answered with a failure, and the terminal registers
 * again. Where it is not required, any code or none is accepted. On the connection on which it registered, a terminal
 * may send data before it presents its new code. Unknown messages are answered as unsupported, and the session
 * continues.
 */
export class Jt808Session extends FramedSession {
  readonly #secret: string | Buffer;
  readonly #codes: TerminalCodes;
  readonly #reassembly = new Reassembly();
  /** The number in the headers of the identified terminal. */
  #phone: string | null = null;
  /** The terminal's form of headers; the server's headers have the same form. */
  #style: Pick<Header, 'edition' | 'version' | 'phone'> | null = null;
  #serial = 0;
  #failedAuthorizations = 0;
  /** Bytes of the incomplete frame already searched for a flag. */
  #searched = 0;

  constructor({ secret, codes }: SessionOptions) {
    super(MAX_FRAME_BYTES);
    this.#secret = secret ?? ownSecret;
    this.#codes = codes ?? DERIVED_CODES;
  }

  /**
   * Encodes a command in the terminal's edition; null before the terminal has identified itself, and where the command
   * cannot be encoded.
   */
  command(command: TerminalCommand): SentCommand | null {
    if (this.#phone === null) return null;
    const edition = this.#style?.edition ?? 2013;
    const message = 'parameters' in command ? encodeOrder(command, edition) : encodeCommand(command);
    if (message === null) return null;
    const correlation = this.#serial;
    return { correlation, bytes: this.#message(message.id, message.body) };
  }

  protected override take(bytes: Buffer, from: number, nowMs: number, out: Inbound[]): number {
    if (bytes[from] !== FLAG) return this.refuse(out, 'bad-frame', 'a message begins with 0x7e');
    const end = bytes.indexOf(FLAG, from + Math.max(1, this.#searched));
    if (end === -1) {
      this.#searched = bytes.length - from;
      return 0;
    }
    this.#searched = 0;
    // Two flags in a row: the first ends no message, the second begins one.
    if (end === from + 1) return 1;
    const length = end - from + 1;
    if (length > MAX_FRAME_BYTES)
      return this.refuse(out, 'bad-length', `a frame of more than ${MAX_FRAME_BYTES} bytes`);
    const message = readMessage(bytes, from + 1, end);
    if (typeof message === 'string') return this.refuse(out, message, FAULTS[message]);
    return this.#takeMessage(message, nowMs, out) ? length : 0;
  }

  protected override restart(): void {
    this.#searched = 0;
  }

  /** @returns whether the session continues */
  #takeMessage(message: Message, nowMs: number, out: Inbound[]): boolean {
    const { edition, version, phone } = message;
    if (this.#phone !== null && phone !== this.#phone) {
      this.refuse(
        out,
        'bad-content',
        `terminal ${this.#phone} now says that it is ${phone}`,
        null,
        terminalIdsOf(phone),
      );
      return false;
    }
    this.#style = { edition, version, phone };

    if (message.id === MESSAGE.register) return this.#register(message, nowMs, out);
    if (message.id === MESSAGE.authorize) return this.#authorize(message, out);
    if (this.#phone === null) {
      const forms = terminalIdsOf(phone);
      if (this.#codes.isNeeded(forms)) {
        const detail = `message ${hex(message.id)} before registration and authorization`;
        this.refuse(out, 'not-identified', detail, null, forms);
        return false;
      }
      this.#identify(phone, null, this.#acknowledge(message.serial, message.id, RESULT.failed), {}, out);
    }
    if (message.part === null) this.#takeBody(message, message.body, [message.serial], nowMs, out);
    else this.#takePart({ ...message, part: message.part }, nowMs, out);
    return true;
  }

  #register(message: Message, nowMs: number, out: Inbound[]): boolean {
    const forms = terminalIdsOf(message.phone);
    const identity = registeredIdentity(message);
    if (!this.#codes.mayIssue(forms, identity)) {
      const refused = this.#message(MESSAGE.registered, registration(message.serial, REGISTRATION.terminalRegistered));
      return this.#failed(refused, forms, 'the terminal is registered, and must show its code', out);
    }
    const code = Buffer.from(authorizationCode(this.#secret, message.phone), 'latin1');
    const accept = this.#message(MESSAGE.registered, registration(message.serial, REGISTRATION.done, code));
    if (this.#phone === null) {
      const reject = this.#message(MESSAGE.registered, registration(message.serial, REGISTRATION.noSuchTerminal));
      this.#identify(message.phone, accept, reject, { registration: identity }, out);
    } else out.push({ type: 'reply', bytes: accept });
    const vin = readVin(message.body, plateAt(message.edition), nowMs);
    if (vin !== null) out.push({ type: 'positions', positions: [vin], ack: null });
    return true;
  }

  #authorize(message: Message, out: Inbound[]): boolean {
    const expected = authorizationCode(this.#secret, message.phone);
    const forms = terminalIdsOf(message.phone);
    const showedCode = this.#codes.isRight(forms, shownCode(message), expected);
    // A terminal that registered on this connection is already identified.
    if (!showedCode && this.#phone === null && this.#codes.isNeeded(forms)) {
      const failed = this.#acknowledge(message.serial, message.id, RESULT.failed);
      return this.#failed(failed, forms, 'the code of the authorization is wrong, again and again', out);
    }
    const accept = this.#acknowledge(message.serial, message.id, RESULT.done);
    if (this.#phone === null) {
      const reject = this.#acknowledge(message.serial, message.id, RESULT.failed);
      this.#identify(message.phone, accept, reject, { showedCode }, out);
    } else out.push({ type: 'reply', bytes: accept });
    return true;
  }

  /** @returns whether the session continues: a terminal that keeps failing is disconnected */
  #failed(answer: Buffer, forms: readonly TerminalId[], detail: string, out: Inbound[]): boolean {
    if (++this.#failedAuthorizations >= MAX_FAILED_AUTHORIZATIONS) {
      this.refuse(out, 'wrong-secret', detail, answer, forms);
      return false;
    }
    out.push({ type: 'reply', bytes: answer });
    return true;
  }

  #identify(
    phone: string,
    accept: Buffer | null,
    reject: Buffer,
    shown: { registration?: string; showedCode?: boolean },
    out: Inbound[],
  ): void {
    this.#phone = phone;
    const [terminalId, ...otherIds] = terminalIdsOf(phone);
    out.push({ type: 'identify', terminalId, ...(otherIds.length > 0 && { otherIds }), ...shown, accept, reject });
  }

  #takePart(message: Message & { part: { number: number; count: number } }, nowMs: number, out: Inbound[]): void {
    if (!SPLIT_MESSAGES.has(message.id)) {
      this.#reply(message, RESULT.unsupported, out);
      return;
    }
    const taken = this.#reassembly.add(message);
    if (taken.fate === 'whole') return this.#takeBody(message, taken.body, taken.serials, nowMs, out);
    if (message.id === MESSAGE.recordings) return;
    // A part is acknowledged with its message, once that is durable. A part that is repeated before that comes from a
    // terminal that waits for an acknowledgement of each part, so it is acknowledged at once. The terminal keeps the
    // message until its last part is acknowledged.
    if (taken.fate === 'repeated') this.#reply(message, RESULT.done, out);
    else if (taken.fate === 'too-long') this.#reply(message, RESULT.failed, out);
  }

  /** @param serials of the message's packets */
  #takeBody(message: Header, body: Buffer, serials: readonly number[], nowMs: number, out: Inbound[]): void {
    switch (message.id) {
      case MESSAGE.terminalAck:
        return this.#takeAcknowledgement(body, out);
      case MESSAGE.recordings: {
        const read = readRecordings(body);
        if (read === null) return this.#reply(message, RESULT.wrong, out);
        this.#answer(read.answers, { type: 'recordings', recordings: read.recordings }, out);
        return;
      }
      case MESSAGE.locationAnswer: {
        // The serial of the request precedes the location.
        const positions = body.length < 2 ? null : oneLocation(body.subarray(2));
        if (positions === null) return this.#reply(message, RESULT.wrong, out);
        const ack = this.#acknowledge(message.serial, message.id, RESULT.done);
        out.push({ type: 'positions', positions, ack });
        this.#answer(body.readUInt16BE(0), { type: 'acknowledged', result: 'done' }, out);
        return;
      }
      case MESSAGE.heartbeat:
      case MESSAGE.deregister:
        out.push({ type: 'positions', positions: [], ack: this.#acknowledge(message.serial, message.id, RESULT.done) });
        return;
      case MESSAGE.askTime:
        // The only time in UTC (2019 edition).
        out.push({ type: 'reply', bytes: this.#message(MESSAGE.timeAnswer, timeBytes(nowMs - CLOCK_OFFSET_MS)) });
        return;
      case MESSAGE.askTimeOfMakers:
        out.push({ type: 'reply', bytes: this.#message(MESSAGE.timeAnswerOfMakers, wholeYearTime(nowMs)) });
        return;
      default: {
        const positions = readReport(message.id, body, nowMs);
        if (positions === 'unknown') return this.#reply(message, RESULT.unsupported, out);
        if (positions === null) return this.#reply(message, RESULT.wrong, out);
        const acks = serials.map((serial) => this.#acknowledge(serial, message.id, RESULT.done));
        out.push({ type: 'positions', positions, ack: acks.length === 1 ? (acks[0] as Buffer) : Buffer.concat(acks) });
      }
    }
  }

  #takeAcknowledgement(body: Buffer, out: Inbound[]): void {
    if (body.length < 5) return;
    const result = body[4];
    this.#answer(
      body.readUInt16BE(0),
      {
        type: 'acknowledged',
        result:
          result === RESULT.done
            ? 'done'
            : result === RESULT.unsupported
              ? 'unsupported'
              : result === RESULT.wrong
                ? 'wrong'
                : 'failed',
      },
      out,
    );
  }

  #answer(correlation: number, answer: TerminalAnswer, out: Inbound[]): void {
    out.push({ type: 'answer', correlation, answer });
  }

  #reply(message: Header, result: number, out: Inbound[]): void {
    out.push({ type: 'reply', bytes: this.#acknowledge(message.serial, message.id, result) });
  }

  #acknowledge(serial: number, id: number, result: number): Buffer {
    const body = Buffer.allocUnsafe(5);
    body.writeUInt16BE(serial, 0);
    body.writeUInt16BE(id, 2);
    body[4] = result;
    return this.#message(MESSAGE.serverAck, body);
  }

  #message(id: number, body: Buffer): Buffer {
    const style = this.#style ?? { edition: 2013, version: 0, phone: '0' };
    const serial = this.#serial;
    this.#serial = (serial + 1) & 0xffff;
    return buildMessage({ id, ...style, serial, part: null }, body);
  }
}

/** Messages that are reassembled from their parts. */
const SPLIT_MESSAGES: ReadonlySet<number> = new Set([
  MESSAGE.shortBatch,
  MESSAGE.storedLocations,
  MESSAGE.transparent,
  MESSAGE.recordings,
]);

/** @returns null where the message is cut off, `unknown` where it holds nothing to store */
function readReport(id: number, body: Buffer, nowMs: number): Position[] | null | 'unknown' {
  switch (id) {
    case MESSAGE.location:
      return oneLocation(body);
    case MESSAGE.storedLocations:
      return batchOfLocations(body);
    case MESSAGE.shortBatch:
      return shortBatchOfLocations(body);
    case MESSAGE.driver:
      return orNone(readDriver(body, nowMs));
    case MESSAGE.properties:
      return orNone(readProperties(body, nowMs));
    case MESSAGE.transparent:
      return orNone(readTransparent(body, nowMs));
    default:
      return 'unknown';
  }
}

function orNone(position: Position | null): Position[] | null {
  return position === null ? null : [position];
}

/**
 * Current UTC time: the year in two bytes; month, day, hour, minute and second in one byte each. Makers use it
 * (0x8109); no public document describes it.
 */
function wholeYearTime(nowMs: number): Buffer {
  const now = new Date(nowMs);
  const year = now.getUTCFullYear();
  return Buffer.of(
    year >> 8,
    year & 0xff,
    now.getUTCMonth() + 1,
    now.getUTCDate(),
    now.getUTCHours(),
    now.getUTCMinutes(),
    now.getUTCSeconds(),
  );
}

/**
 * Offset of the plate's colour in a registration. Province and city come first, 2 bytes each; then maker, model and
 * terminal number in 5, 20 and 7 bytes (2013) or 11, 30 and 30 (2019).
 */
function plateAt(edition: Edition): number {
  return REGISTERED_PLACE_BYTES + (edition === 2013 ? 5 + 20 + 7 : 11 + 30 + 30);
}

/**
 * The terminal's identity in a registration: maker, model and terminal number, which never change. The rest of the
 * message describes the vehicle, and changes when it is entered again.
 */
function registeredIdentity({ edition, body }: Message): string {
  return body.toString('hex', REGISTERED_PLACE_BYTES, plateAt(edition));
}

/** For sessions without a gateway. */
const DERIVED_CODES: TerminalCodes = {
  isNeeded: () => false,
  isRight: (_, shown, derived) => shown === derived,
  mayIssue: () => true,
};

/** Builds a registration result: serial of the registration, result, and on success the code. */
function registration(serial: number, result: number, code: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.allocUnsafe(3);
  head.writeUInt16BE(serial, 0);
  head[2] = result;
  return Buffer.concat([head, code]);
}

/**
 * The code in an authorization: the whole body in 2013; in 2019 after its length and before IMEI and software version.
 */
function shownCode({ edition, body }: Message): string {
  if (edition === 2013) return body.toString('latin1');
  return body.toString('latin1', 1, 1 + (body[0] ?? 0));
}

function oneLocation(body: Buffer): Position[] | null {
  const position = readLocation(body, 0, body.length);
  if (position === 'too-short') return null;
  return position === null ? [] : [position];
}

/** Reads count, kind, and each location after its length. */
function batchOfLocations(body: Buffer): Position[] | null {
  if (body.length < 3) return null;
  const count = body.readUInt16BE(0);
  const positions: Position[] = [];
  let p = 3;
  for (let i = 0; i < count; i++) {
    if (p + 2 > body.length) return null;
    const length = body.readUInt16BE(p);
    p += 2;
    if (p + length > body.length) return null;
    const position = readLocation(body, p, p + length);
    if (position === 'too-short') return null;
    if (position !== null) positions.push(position);
    p += length;
  }
  return positions;
}

/**
 * Reads a batch that makers define themselves (0x0210, in no public document): each location after a one-byte length.
 */
function shortBatchOfLocations(body: Buffer): Position[] | null {
  const positions: Position[] = [];
  for (let p = 0; p < body.length; ) {
    const end = p + 1 + (body[p] as number);
    if (end > body.length) return null;
    const position = readLocation(body, p + 1, end);
    if (position === 'too-short') return null;
    if (position !== null) positions.push(position);
    p = end;
  }
  return positions;
}

function hex(id: number): string {
  return `0x${id.toString(16).padStart(4, '0')}`;
}
