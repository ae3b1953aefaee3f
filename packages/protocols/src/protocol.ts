import type {
  CommandAbility,
  Position,
  ProtocolName,
  TerminalAnswer,
  TerminalCommand,
  TerminalId,
} from '@outrider/domain';

/** Why a connection or a request was refused; the metrics count refusals by this name. */
export type RefusalReason =
  | 'bad-frame' // no frame can begin like this
  | 'bad-checksum'
  | 'bad-length' // a length that the protocol or its bound rules out
  | 'bad-content' // the frame is whole, its content cannot be
  | 'unsupported' // a known message or version that is not spoken here
  | 'wrong-secret' // a code or a password that is not that of the terminal
  | 'not-identified' // data before the terminal said who it is
  | 'unknown-terminal' // said by the gateway, not by a codec
  | 'address-blocked'; // the address tried too many unknown ids

/** A message that a session reads from its input. */
export type Inbound =
  /**
   * The terminal identified itself. The gateway sends `accept` when it knows the terminal, else `reject`, and closes
   * the connection. `otherIds` are further forms of the same id that its vehicle may be registered with.
   */
  | {
      type: 'identify';
      terminalId: TerminalId;
      otherIds?: readonly TerminalId[];
      /** The password of its login, which the gateway can check against the vehicle. */
      secret?: string;
      /**
       * Salted hash of the terminal's identity at registration. The gateway may store it, and pass it to
       * {@link TerminalCodes.issue} later.
       */
      registration?: string;
      /** The terminal presented the correct code, according to {@link TerminalCodes.isRight}. */
      showedCode?: boolean;
      accept: Buffer | null;
      reject: Buffer | null;
    }
  /**
   * A whole packet of data. `ack` is sent only once its positions are durable; a packet without positions (a heartbeat,
   * an archive record without a fix) has an empty list and is acknowledged in its turn: a sign of life, as is every
   * other message after `identify`. `terminalId`: the terminal of the packet where the connection carries several, as
   * {@link SessionOptions.letIn} named it.
   */
  | { type: 'positions'; positions: Position[]; ack: Buffer | null; terminalId?: TerminalId }
  /** Bytes to send in order; nothing to store. */
  | { type: 'reply'; bytes: Buffer }
  /** Text of a terminal, or of a device connected to it. The gateway counts and logs it, and does not answer. */
  | { type: 'text'; text: string }
  /**
   * A whole message of a known terminal that cannot be read. It is skipped, so that it does not block other messages;
   * the gateway counts and logs it. Its acknowledgement follows as an empty packet.
   */
  | { type: 'unread'; detail: string }
  /** The terminal's answer to the command with this correlation, see {@link Session.command}. */
  | { type: 'answer'; correlation: number; answer: TerminalAnswer }
  /**
   * The connection must be closed; no message follows. `bytes`, where set, is sent first. `terminalIds`: the id that
   * the terminal gave, in each form, where it gave one. The gateway lists it among unknown terminals where no vehicle
   * has it.
   */
  | {
      type: 'refuse';
      reason: RefusalReason;
      detail: string;
      bytes: Buffer | null;
      terminalIds?: readonly TerminalId[];
    };

/**
 * The server's side of a connection with one terminal: bytes in, messages out. Holds at most one incomplete frame,
 * bounded by the protocol's `maxFrameBytes`. Never throws, whatever the input; after a refusal it returns nothing more.
 */
export interface Session {
  /**
   * @param chunk bytes as received; the session keeps no reference to it after the call, and what it returns does not
   *   share its memory
   * @param nowMs Unix milliseconds, for protocols whose records carry no full date
   */
  push(chunk: Buffer, nowMs: number): Inbound[];
  /**
   * Discards the incomplete frame: a datagram holds whole frames.
   *
   * @returns the number of bytes discarded
   */
  dropUnfinished(): number;
  /**
   * Encodes a command; only sessions of protocols with commands implement this.
   *
   * @returns null where the command cannot be encoded, now or at all
   */
  command?(command: TerminalCommand): SentCommand | null;
}

/** An encoded command, and the correlation that identifies its answer. */
export interface SentCommand {
  correlation: number;
  bytes: Buffer;
}

/** Decides about the authorization codes of terminals that register (JT/T 808). */
export interface TerminalCodes {
  /**
   * Whether the terminal must present its code. Where not, a code of another platform is accepted, and so is no code:
   * any device that registers would receive it.
   */
  isNeeded(forms: readonly TerminalId[]): boolean;
  /** @param derived the code that the terminal was given where it has none of its own */
  isRight(forms: readonly TerminalId[], shown: string, derived: string): boolean;
  /**
   * Whether the code may be issued to a terminal that registers under one of these ids.
   *
   * @param registration the terminal's identity, the same each time that the same terminal registers
   */
  mayIssue(forms: readonly TerminalId[], registration: string): boolean;
}

/** How the data of one terminal is handled, in a connection that carries several terminals. */
export type Entry =
  /** Its data is accepted; its vehicle is registered with this form of the id. */
  | { type: 'taken'; terminalId: TerminalId }
  /** Its data is dropped, and the data of the other terminals is accepted. */
  | { type: 'refused' }
  /** The connection must be closed without further acknowledgements. */
  | { type: 'blocked'; detail: string };

/**
 * Called for each packet of a connection that carries the data of several terminals.
 *
 * @param forms of the terminal's id
 * @param secret presented by the connection, to be checked against the vehicle
 */
export type LetIn = (forms: readonly [TerminalId, ...TerminalId[]], secret: string | null) => Entry;

/** Options that the service passes to a session. */
export interface SessionOptions {
  /** Default: every terminal is taken, under the first form of its id. */
  letIn?: LetIn;
  /**
   * Secret from which the codes are derived that terminals receive once and present later. It must be the same for all
   * gateways that a terminal may connect to.
   */
  secret?: string | Buffer;
  /** Default: the derived code is issued to every terminal that registers, and is not required. */
  codes?: TerminalCodes;
  /**
   * The model that a terminal's vehicle is registered with; null where none is set. A session asks for each packet, so
   * that a change takes effect at the next one. Default: no model is known.
   *
   * @param forms the terminal's id in each form that its vehicle may be registered with
   */
  modelOf?(forms: readonly TerminalId[]): string | null;
}

/** Accepts the data of every terminal. */
export const LET_IN_ALL: LetIn = ([terminalId]) => ({ type: 'taken', terminalId });

/** Description of a protocol, for documents and people. */
export interface FormatDescription<Name extends ProtocolName = ProtocolName> {
  /** Stored with each packet, so it must never change. */
  name: Name;
  /** Name for people, with the supported editions. */
  title: string;
  /** How a terminal learns that its data is durable. Markdown. */
  acknowledgement: string;
  /** Secret that a terminal can send with its id; null where the protocol has none. Markdown. */
  secret: string | null;
  /** Meaning of the terminal id, and how to set up a terminal. Markdown. */
  help: string;
  /** The id of a fictitious terminal. */
  exampleId(number: number): TerminalId;
}

/** A protocol with a port on which the gateway listens. */
export interface ProtocolDescription<Name extends ProtocolName = ProtocolName> extends FormatDescription<Name> {
  /** Prefix of the settings `<prefix>_PORT` and `<prefix>_TLS_PORT`. */
  settingPrefix: string;
  defaultPort: number;
}

/** A terminal protocol over TCP. */
export interface Protocol<Name extends ProtocolName = ProtocolName> extends ProtocolDescription<Name> {
  /** Maximum length of a frame, in bytes on the wire. */
  maxFrameBytes: number;
  /** Whether terminals with a video profile (JT/T 1078) connect by it, with or without a vehicle of that id. */
  carriesVideo?: boolean;
  createSession(options?: SessionOptions): Session;
  /** Absent where terminals use TCP only. */
  datagrams?: DatagramSide;
  /** Commands that people and rules can send to a terminal. Absent where none exist. */
  commands?: readonly CommandAbility[];
  /** The terminal's side. The first is the usual one; others speak further editions or codecs. */
  simulators: readonly [CreateSimulator, ...CreateSimulator[]];
}

/** UDP variant of a protocol. A datagram holds one or several whole frames of one terminal. */
export interface DatagramSide {
  /**
   * `each`: every datagram identifies its terminal, and gets a session of its own. `login`: the terminal identifies
   * itself once, and the gateway remembers the session of its address for a while.
   */
  identification: 'each' | 'login';
  /** Default: {@link Protocol.createSession}. */
  createSession?(options?: SessionOptions): Session;
  /** Each {@link TerminalSimulator.encode} is one datagram. Default: the first of {@link Protocol.simulators}. */
  simulator?: CreateSimulator;
}

/** A request of a terminal, or of a platform that sends for many terminals. */
export interface TerminalRequest {
  method: string;
  /** As in the request line: path and query. */
  url: string;
  /** Header values by name in lower case. */
  headers: Readonly<Record<string, string | undefined>>;
  body: Buffer;
}

/** Data of one terminal. */
export interface TerminalReport {
  terminalId: TerminalId;
  /** Further forms of the same id that its vehicle may be registered with. */
  otherIds?: readonly TerminalId[];
  /** Empty for a sign of life. */
  positions: Position[];
  /** True where speeds had no unit and were assumed to be in knots: the vehicle may specify another unit. */
  isInKnots?: boolean;
}

/** Content of a request or a message. */
export interface TerminalReports {
  reports: TerminalReport[];
  /** Parts that could not be read. They are skipped, so that they do not block the rest. */
  unread?: readonly Pick<RefusedReports, 'refused' | 'detail'>[];
  /** Secret that was sent with the ids. */
  secret?: string;
}

/** An invalid request or message. */
export interface RefusedReports {
  refused: RefusalReason;
  /** What is wrong and where. */
  detail: string;
  /** HTTP status of the response. */
  status: number;
}

/** A terminal protocol over HTTP: one request, one answer. */
export interface HttpProtocol<Name extends ProtocolName = ProtocolName> extends ProtocolDescription<Name> {
  maxBodyBytes: number;
  /**
   * Whether a request holds the data of many terminals. It is acknowledged once the data of all terminals with a
   * vehicle is durable; the others are listed and skipped.
   */
  carriesMany?: boolean;
  /** JSON of the acknowledging response. Default: an empty body. */
  answer?: string;
  /**
   * Never throws.
   *
   * @param nowMs Unix milliseconds, for requests without a time
   */
  decode(request: TerminalRequest, nowMs: number): TerminalReports | RefusedReports;
  /** The terminal's side, for simulators. */
  encode(terminalId: TerminalId, position: Position): TerminalRequest;
  /** Absent where the protocol is not published to brokers. */
  topics?: TopicSide;
}

/** A message that a terminal, or a platform, published to a broker. */
export interface TopicMessage {
  topic: string;
  payload: Buffer;
}

/** MQTT variant of a protocol. */
export interface TopicSide {
  /** Default topic filter of the subscription. */
  filter: string;
  /**
   * Never throws.
   *
   * @param nowMs Unix milliseconds, for messages without a time
   */
  decode(message: TopicMessage, nowMs: number): TerminalReports | RefusedReports;
  /** The terminal's side, for simulators. */
  encode(terminalId: TerminalId, position: Position): TopicMessage;
}

/** A protocol over a broker only: the gateway does not listen for it. */
export interface TopicProtocol<Name extends ProtocolName = ProtocolName> extends FormatDescription<Name> {
  topics: TopicSide;
}

/** An event that a simulated terminal reads from the server's bytes. */
export type SimulatorReply =
  /** Identified: data may be sent. */
  | { type: 'welcome' }
  /** The oldest packet sent and not yet acknowledged is durable. */
  | { type: 'ack' }
  | { type: 'refused'; detail: string }
  /** The server sent a command. */
  | {
      type: 'command';
      /** Text for people. */
      text: string;
      /** @returns the terminal's answer; null where it does not answer */
      answer(isDone: boolean): Buffer | null;
    };

/**
 * The terminal's side of a protocol, used by tests, the demo fleet and the load tests. Encoded positions lose what the
 * protocol can't carry, and nothing else.
 */
export interface TerminalSimulator {
  /** The bytes that the terminal sends on connecting, before any data; null where it begins with data. */
  hello(): Buffer | null;
  /** Encodes one packet of at most `maxPositionsPerPacket` positions. */
  encode(positions: readonly Position[]): Buffer;
  maxPositionsPerPacket: number;
  /** The server never acknowledges: data that the connection accepted counts as stored. */
  isUnacknowledged?: boolean;
  /** Takes bytes from the server, split at any point. */
  receive(chunk: Buffer): SimulatorReply[];
}

/** Creates the terminal's side of a protocol for one terminal. */
export type CreateSimulator = (terminalId: TerminalId) => TerminalSimulator;
