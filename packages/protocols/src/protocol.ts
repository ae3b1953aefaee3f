import type {
  CommandAbility,
  Position,
  ProtocolName,
  TerminalAnswer,
  TerminalCommand,
  TerminalId,
} from '@outrider/domain';

/** Why a connection, or a request, was refused; counted by this name in the metrics. */
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
   * A whole packet of data. `ack` is sent only once its positions are durable; a packet without positions (a heartbeat,
   * an archive record without a fix) has an empty list and is acknowledged in its turn: a sign of life, as is every
   * other message after `identify`. `terminalId`: the terminal of the packet where the connection carries several, as
   * {@link SessionOptions.letIn} named it.
   */
  | { type: 'positions'; positions: Position[]; ack: Buffer | null; terminalId?: TerminalId }
  /** Sent in its turn, nothing to store. */
  | { type: 'reply'; bytes: Buffer }
  /**
   * Text of a terminal, or of a device that is connected to it. The gateway counts and logs it. Nothing is answered.
   */
  | { type: 'text'; text: string }
  /**
   * A whole message of a known terminal that can't be read. It is left out, so that it does not hold up what stands
   * beside it; the gateway counts and logs it. What acknowledges it comes as an empty packet.
   */
  | { type: 'unread'; detail: string }
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
   * Forgets the unfinished frame: a datagram holds whole ones.
   *
   * @returns how many bytes of it there were
   */
  dropUnfinished(): number;
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
  /**
   * Must the terminal show its code? Where it need not, a code of another platform is accepted, and so is no code: any
   * device that registers would be given it.
   */
  isNeeded(forms: readonly TerminalId[]): boolean;
  /** @param derived the code that the terminal was given where it has none of its own */
  isRight(forms: readonly TerminalId[], shown: string, derived: string): boolean;
  /**
   * May the code be given to who registers under one of these ids?
   *
   * @param registration what it said of itself: the same each time that the same terminal registers
   */
  mayIssue(forms: readonly TerminalId[], registration: string): boolean;
}

/** What becomes of the data of one terminal in a connection that carries several. */
export type Entry =
  /** It is taken; its vehicle is registered with this form of the id. */
  | { type: 'taken'; terminalId: TerminalId }
  /** It is dropped, and the data of the other terminals is taken. */
  | { type: 'refused' }
  /** The connection must end, with nothing acknowledged from here on. */
  | { type: 'blocked'; detail: string };

/**
 * Asked for each packet of a connection that carries the data of several terminals.
 *
 * @param forms of the terminal's id
 * @param secret what the connection showed that can be checked against the vehicle
 */
export type LetIn = (forms: readonly [TerminalId, ...TerminalId[]], secret: string | null) => Entry;

/** What a session may be given by the service that it is part of. */
export interface SessionOptions {
  /** Default: every terminal is taken, under the first form of its id. */
  letIn?: LetIn;
  /**
   * What codes are derived from that a terminal is given once and shows later: the same for all that a terminal may
   * connect to.
   */
  secret?: string | Buffer;
  /** Default: the code is the derived one, given to every terminal that registers, and not needed. */
  codes?: TerminalCodes;
  /**
   * The model that the vehicle of a terminal is registered with; null where none is said. A session asks for each
   * packet, so that a change takes effect at the next one. Default: none is known.
   *
   * @param forms the terminal's id in each form that its vehicle may be registered with
   */
  modelOf?(forms: readonly TerminalId[]): string | null;
}

/** Takes the data of every terminal. */
export const LET_IN_ALL: LetIn = ([terminalId]) => ({ type: 'taken', terminalId });

/** What documents and people know of a protocol. */
export interface FormatDescription<Name extends ProtocolName = ProtocolName> {
  /** Stored with each packet: never changed. */
  name: Name;
  /** As people write it, with the editions that are supported. */
  title: string;
  /** How a terminal learns that its data is durable. Markdown. */
  acknowledgement: string;
  /** What a terminal can show beside its id; null where the protocol has nothing of the kind. Markdown. */
  secret: string | null;
  /** What the terminal id is, and how a terminal is set up. Markdown. */
  help: string;
  /** The id of a made-up terminal. */
  exampleId(number: number): TerminalId;
}

/** A protocol that the gateway listens for. */
export interface ProtocolDescription<Name extends ProtocolName = ProtocolName> extends FormatDescription<Name> {
  /** The settings are `<prefix>_PORT` and `<prefix>_TLS_PORT`. */
  settingPrefix: string;
  defaultPort: number;
}

/** A terminal protocol over TCP. */
export interface Protocol<Name extends ProtocolName = ProtocolName> extends ProtocolDescription<Name> {
  /** The longest frame that a session takes, in bytes on the wire. */
  maxFrameBytes: number;
  /** Terminals with a video profile (JT/T 1078) connect by it, with a vehicle of that id or without. */
  carriesVideo?: boolean;
  createSession(options?: SessionOptions): Session;
  /** Missing: terminals speak it over TCP alone. */
  datagrams?: DatagramSide;
  /** What people and rules can ask of a terminal. Absent: nothing. */
  commands?: readonly CommandAbility[];
  /** The terminal's side. The first is the usual one; others speak further editions or codecs. */
  simulators: readonly [CreateSimulator, ...CreateSimulator[]];
}

/** How a protocol is spoken over UDP. A datagram holds one or several whole frames of one terminal. */
export interface DatagramSide {
  /**
   * `each`: every datagram says which terminal it is from, and gets a session of its own. `login`: the terminal says it
   * once, and the gateway remembers the session of its address for a while.
   */
  identification: 'each' | 'login';
  /** Default: {@link Protocol.createSession}. */
  createSession?(options?: SessionOptions): Session;
  /** Each {@link TerminalSimulator.encode} is one datagram. Default: the first of {@link Protocol.simulators}. */
  simulator?: CreateSimulator;
}

/** A request of a terminal, or of a platform that speaks for many. */
export interface TerminalRequest {
  method: string;
  /** As in the request line: path and query. */
  url: string;
  /** By name in lower case. */
  headers: Readonly<Record<string, string | undefined>>;
  body: Buffer;
}

/** Data of one terminal. */
export interface TerminalReport {
  terminalId: TerminalId;
  /** Further forms of the same id that its vehicle may be registered with. */
  otherIds?: readonly TerminalId[];
  /** Empty: a sign of life. */
  positions: Position[];
  /** True where speeds were numbers without a unit, and taken for knots: the vehicle may name another unit. */
  isInKnots?: boolean;
}

/** What a request or a message holds. */
export interface TerminalReports {
  reports: TerminalReport[];
  /** What could not be read beside them: left out, so that it does not hold up the rest. */
  unread?: readonly Pick<RefusedReports, 'refused' | 'detail'>[];
  /** What it shows beside the ids. */
  secret?: string;
}

/** A request or a message that means nothing. */
export interface RefusedReports {
  refused: RefusalReason;
  /** What is wrong and where. */
  detail: string;
  /** HTTP status to answer with. */
  status: number;
}

/** A terminal protocol over HTTP: one request, one answer. */
export interface HttpProtocol<Name extends ProtocolName = ProtocolName> extends ProtocolDescription<Name> {
  maxBodyBytes: number;
  /**
   * A request holds the data of many terminals. It is acknowledged once the data of all that have a vehicle is durable;
   * the others are listed and left out.
   */
  carriesMany?: boolean;
  /** JSON that a request is acknowledged with. Default: an empty body. */
  answer?: string;
  /**
   * Never throws.
   *
   * @param nowMs Unix milliseconds, for requests without a time
   */
  decode(request: TerminalRequest, nowMs: number): TerminalReports | RefusedReports;
  /** The terminal's side, for simulators. */
  encode(terminalId: TerminalId, position: Position): TerminalRequest;
  /** Missing: it is not published to brokers. */
  topics?: TopicSide;
}

/** A message that a terminal, or a platform, published to a broker. */
export interface TopicMessage {
  topic: string;
  payload: Buffer;
}

/** How a protocol is spoken over a broker (MQTT). */
export interface TopicSide {
  /** The topics that are subscribed to unless others are set. */
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

/** A protocol that is spoken over a broker alone: the gateway does not listen for it. */
export interface TopicProtocol<Name extends ProtocolName = ProtocolName> extends FormatDescription<Name> {
  topics: TopicSide;
}

/** What a simulated terminal learns from the bytes that the server sent it. */
export type SimulatorReply =
  /** Identified: data may be sent. */
  | { type: 'welcome' }
  /** The oldest packet sent and not yet acknowledged is durable. */
  | { type: 'ack' }
  | { type: 'refused'; detail: string }
  /** The server gave a command. */
  | {
      type: 'command';
      /** As people read it. */
      text: string;
      /** @returns what the terminal answers; null where it answers nothing */
      answer(isDone: boolean): Buffer | null;
    };

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
  /** The server never acknowledges: what the connection took counts as stored. */
  isUnacknowledged?: boolean;
  /** Bytes from the server, in any split. */
  receive(chunk: Buffer): SimulatorReply[];
}

/** Makes the terminal's side of a protocol for one terminal. */
export type CreateSimulator = (terminalId: TerminalId) => TerminalSimulator;
