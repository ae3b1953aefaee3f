import type { Position, ProtocolName, TerminalAnswer, TerminalCommand, TerminalId } from '@outrider/domain';

/** Why a connection, or a request, was refused; counted by this name in the metrics. */
export type RefusalReason =
  | 'bad-frame' // no frame can begin like this
  | 'bad-checksum'
  | 'bad-length' // a length that the protocol or its bound rules out
  | 'bad-content' // the frame is whole, its content cannot be
  | 'unsupported' // a known message or version that is not spoken here
  | 'wrong-secret' // a code or a password that is not that of the terminal
  | 'not-identified' // data before the terminal said who it is
  | 'unknown-terminal'; // said by the gateway, not by a codec

/** What a session makes of the bytes it was fed. */
export type Inbound =
  /**
   * The terminal said who it is. The gateway answers with `accept` when it knows the terminal, else with `reject` and
   * closes. `otherIds` are further forms of the same id that its vehicle may be registered with.
   */
  | {
      type: 'identify';
      terminalId: TerminalId;
      otherIds?: readonly TerminalId[];
      /** What it showed that the gateway can check against the vehicle: the password of its login. */
      secret?: string;
      /**
       * Salted hash of what it said of itself when it registered: the gateway may keep it, and give it to {@link
       * TerminalCodes.issue} later.
       */
      registration?: string;
      /** It showed the code that it was given: {@link TerminalCodes.isRight} said so. */
      showedCode?: boolean;
      accept: Buffer | null;
      reject: Buffer | null;
    }
  /**
   * A whole packet of data. `ack` is sent only once its positions are durable; a packet without positions (a heartbeat
   * with data, an archive record without a fix) has an empty list and is acknowledged in its turn.
   */
  | { type: 'positions'; positions: Position[]; ack: Buffer | null }
  /** Sent in its turn, nothing to store. */
  | { type: 'reply'; bytes: Buffer }
  /**
   * Text of a terminal, or of a device that is connected to it. The gateway counts and logs it. Nothing is answered.
   */
  | { type: 'text'; text: string }
  /** The terminal answers the command that had this correlation, see {@link Session.command}. */
  | { type: 'answer'; correlation: number; answer: TerminalAnswer }
  /**
   * The connection ends. `bytes`, where set, is sent first. Nothing comes after this. `terminalIds`: what the terminal
   * called itself, in each form, where it did; the gateway lists it among unknown terminals where no vehicle has it.
   */
  | {
      type: 'refuse';
      reason: RefusalReason;
      detail: string;
      bytes: Buffer | null;
      terminalIds?: readonly TerminalId[];
    };

/**
 * One terminal's side of a conversation: bytes in, messages out. Holds at most one unfinished frame, bounded by the
 * protocol's `maxFrameBytes`. Never throws, whatever it is fed; after a refusal it gives nothing more.
 */
export interface Session {
  /**
   * @param chunk bytes as they came; the session keeps no reference to it after the call, and what it returns does not
   *   share its memory
   * @param nowMs Unix milliseconds, for protocols whose records carry no full date
   */
  push(chunk: Buffer, nowMs: number): Inbound[];
  /**
   * Puts a command into the terminal's own words; only sessions of protocols that have commands offer this.
   *
   * @returns null where it can't be said, now or at all
   */
  command?(command: TerminalCommand): SentCommand | null;
}

/** A command ready to be sent, and what its answer will be known by. */
export interface SentCommand {
  correlation: number;
  bytes: Buffer;
}

/** Who decides about the codes of terminals that register (JT/T 808). */
export interface TerminalCodes {
  /** @param derived the code that the terminal was given where it has none of its own */
  isRight(forms: readonly TerminalId[], shown: string, derived: string): boolean;
  /**
   * May the code be given to who registers under one of these ids?
   *
   * @param registration what it said of itself: the same each time that the same terminal registers
   */
  mayIssue(forms: readonly TerminalId[], registration: string): boolean;
}

/** What a session may be given by the service that it is part of. */
export interface SessionOptions {
  /**
   * What codes are derived from that a terminal is given once and shows later: the same for all that a terminal may
   * connect to.
   */
  secret?: string | Buffer;
  /** Default: the code is the derived one, and given to every terminal that registers. */
  codes?: TerminalCodes;
}

/** What settings, documents and people know of a protocol. */
export interface ProtocolDescription<Name extends ProtocolName = ProtocolName> {
  /** Stored with each packet: never changed. */
  name: Name;
  /** As people write it, with the editions that are supported. */
  title: string;
  /** The settings are `<prefix>_PORT` and `<prefix>_TLS_PORT`. */
  settingPrefix: string;
  defaultPort: number;
  /** How a terminal learns that its data is durable. Markdown. */
  acknowledgement: string;
  /** What a terminal can show beside its id; null where the protocol has nothing of the kind. Markdown. */
  secret: string | null;
  /** What the terminal id is, and how a terminal is set up. Markdown. */
  help: string;
  /** The id of a made-up terminal. */
  exampleId(number: number): TerminalId;
}

/** A terminal protocol over TCP. */
export interface Protocol<Name extends ProtocolName = ProtocolName> extends ProtocolDescription<Name> {
  /** The longest frame that a session takes, in bytes on the wire. */
  maxFrameBytes: number;
  /** Terminals with a video profile (JT/T 1078) connect by it, with a vehicle of that id or without. */
  carriesVideo?: boolean;
  createSession(options?: SessionOptions): Session;
  /** The terminal's side. The first is the usual one; others speak further editions or codecs. */
  simulators: readonly [CreateSimulator, ...CreateSimulator[]];
}

/** A terminal protocol over HTTP: one request, one answer. */
export type HttpProtocol<Name extends ProtocolName = ProtocolName> = ProtocolDescription<Name>;

/** What a simulated terminal learns from the bytes that the server sent it. */
export type SimulatorReply =
  /** Identified: data may be sent. */
  | { type: 'welcome' }
  /** The oldest packet sent and not yet acknowledged is durable. */
  | { type: 'ack' }
  | { type: 'refused'; detail: string };

/**
 * The terminal's side of a protocol: what tests, the demo fleet and the load tests speak. Positions it encodes lose
 * what the protocol can't carry, and nothing else.
 */
export interface TerminalSimulator {
  /** What the terminal says on connecting, before any data; null where it begins with data. */
  hello(): Buffer | null;
  /** One packet. At most `maxPositionsPerPacket` positions. */
  encode(positions: readonly Position[]): Buffer;
  maxPositionsPerPacket: number;
  /** Bytes from the server, in any split. */
  receive(chunk: Buffer): SimulatorReply[];
}

/** Makes the terminal's side of a protocol for one terminal. */
export type CreateSimulator = (terminalId: TerminalId) => TerminalSimulator;
