import { BinaryReader } from './live-binary.ts';
import type { LiveHeartbeat, LiveMessage, LivePong, LiveSubscription } from './live-messages.ts';
import { BINARY_PROTOCOL, JSON_PROTOCOL } from './live-names.ts';

/**
 * `connecting`: the first attempt; `open`: subscribed; `waiting`: the connection broke, the next attempt follows;
 * `unauthorized`: the session ended or the account is blocked, no attempt follows; `closed`: by `close()`.
 */
export type LiveStatus = 'connecting' | 'open' | 'waiting' | 'unauthorized' | 'closed';

export interface LiveOptions {
  /** Such as `wss://fleet.example/live`. */
  url: string;
  subscription: LiveSubscription;
  /** Returns a token of `POST /auth/login?jwt=1`. Left out in a browser, where the session's cookie is used. */
  token?: () => string | null;
  /** An API key with the scope `read`, for programs, in place of a token. */
  apiKey?: string;
  /** Cursor of an earlier connection: messages since then are sent first. */
  since?: string;
  onMessage: (message: LiveMessage) => void;
  onStatus?: (status: LiveStatus) => void;
  /** Positions and states arrive as `records`, a tenth as large as JSON. */
  isBinary?: boolean;
  /** Opens the socket; default: `new WebSocket(url, protocols)`. */
  open?: (url: string, protocols: string[]) => WebSocket;
  random?: () => number;
}

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 30_000;
/** A connection counts as lost after two missed heartbeats plus this time. */
const HEARTBEAT_SLACK_MS = 1000;
/**
 * For servers without heartbeats, whose pings are not visible to a page. After a silence of this length, a new
 * subscription tests whether the connection is alive.
 */
const SILENCE_MS = 60_000;
const REPLY_MS = 15_000;
/**
 * Browsers delay the timers of hidden tabs, and a sleeping computer stops all timers. A timer that is later than
 * this...
 */
const LATE_MS = 500;
/** ...proves nothing about the connection until waiting messages were processed. */
const WAITING_MESSAGES_MS = 1000;
/** Close codes: the token or session has ended, or the account is blocked. */
const FINAL_CODES = new Set([4401, 4403]);

/** Messages that confirm a subscription. */
const ANSWERS: ReadonlySet<LiveMessage['type']> = new Set(['snapshot', 'records', 'resumed']);

/**
 * Delay before attempt number `attempt` (from 0): exponential up to half a minute, randomised so that the clients of a
 * restarted service are spread out.
 */
export function reconnectDelayMs(attempt: number, random: () => number): number {
  return (0.5 + random() / 2) * Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** attempt);
}

/**
 * A connection to the live API that reconnects whenever it breaks. It keeps the cursor: events and notifications missed
 * meanwhile are delivered afterwards, each once. Those that the service no longer has are reported as `gap`.
 */
export class LiveConnection {
  readonly #options: LiveOptions;
  #subscription: LiveSubscription;
  #socket: WebSocket | null = null;
  #status: LiveStatus = 'connecting';
  #cursor: string | null;
  #attempt = 0;
  #retry: ReturnType<typeof setTimeout> | null = null;
  #silence: ReturnType<typeof setTimeout> | null = null;
  /** Called when a ping was answered, or the connection has ended before. */
  #onPong: ((isAnswered: boolean) => void) | null = null;
  /** Interval of the server's heartbeats. Null: not known yet, or an older server without heartbeats. */
  #heartbeatMs: number | null = null;

  constructor(options: LiveOptions) {
    this.#options = options;
    this.#subscription = options.subscription;
    this.#cursor = options.since ?? null;
    this.#connect();
  }

  get status(): LiveStatus {
    return this.#status;
  }

  /** Position of the client in the stream; sent to a new connection as `since`. */
  get cursor(): string | null {
    return this.#cursor;
  }

  /** Replaces the subscription, on the same connection. */
  subscribe(subscription: LiveSubscription): void {
    this.#subscription = subscription;
    this.#sendSubscription();
  }

  /** Reconnects at once, as the network is available again. */
  retryNow(): void {
    if (this.#status !== 'waiting') return;
    this.#attempt = 0;
    this.#connect();
  }

  /** Treats the connection as lost at once, as the network is unavailable. Attempts continue. */
  networkLost(): void {
    if (this.#status === 'open') this.#onClosed(1006);
  }

  /**
   * Round-trip time of a message, including everything that is queued for this client.
   *
   * @returns null without a connection, if it ends before the answer, or if a measurement is already running
   */
  roundTripMs(): Promise<number | null> {
    const socket = this.#socket;
    if (this.#status !== 'open' || socket?.readyState !== 1 || this.#onPong !== null) return Promise.resolve(null);
    const sentMs = performance.now();
    return new Promise((resolve) => {
      this.#onPong = (isAnswered) => {
        this.#onPong = null;
        resolve(isAnswered ? performance.now() - sentMs : null);
      };
      socket.send(JSON.stringify({ type: 'ping' }));
    });
  }

  close(): void {
    this.#drop();
    this.#setStatus('closed');
  }

  #connect(): void {
    this.#drop();
    const { url, isBinary = false, open = (to, offered) => new WebSocket(to, offered) } = this.#options;
    const socket = open(url, isBinary ? [BINARY_PROTOCOL, JSON_PROTOCOL] : []);
    socket.binaryType = 'arraybuffer';
    const reader = new BinaryReader();
    this.#socket = socket;
    this.#watch(REPLY_MS, true);
    socket.addEventListener('open', () => {
      if (socket !== this.#socket) return;
      const jwt = this.#options.apiKey ?? this.#options.token?.() ?? null;
      if (jwt !== null) socket.send(JSON.stringify({ type: 'authorize', jwt }));
      this.#sendSubscription();
      this.#watch(REPLY_MS, true);
    });
    socket.addEventListener('message', ({ data }) => {
      if (socket !== this.#socket) return;
      const isText = typeof data === 'string';
      this.#receive(
        isText ? (JSON.parse(data) as LiveMessage | LiveHeartbeat | LivePong) : reader.read(data as ArrayBuffer),
      );
    });
    socket.addEventListener('close', ({ code }) => {
      if (socket === this.#socket) this.#onClosed(code);
    });
  }

  #receive(message: LiveMessage | LiveHeartbeat | LivePong): void {
    if (message.type === 'resumed' && message.heartbeatSeconds !== undefined)
      this.#heartbeatMs = message.heartbeatSeconds * 1000;
    if (this.#heartbeatMs === null) this.#watch(SILENCE_MS, false);
    else this.#watch(2 * this.#heartbeatMs + HEARTBEAT_SLACK_MS, true);
    if (message.type === 'pong') this.#onPong?.(true);
    if (message.type === 'heartbeat' || message.type === 'pong') return;
    // Until the subscription is answered, the connection counts as failed: a server that closes at once is not
    // contacted more often.
    if (this.#status !== 'open' && ANSWERS.has(message.type)) {
      this.#attempt = 0;
      this.#setStatus('open');
    }
    this.#options.onMessage(message);
    // Set last, so that a message whose processing failed is sent again after the next connection.
    if ('cursor' in message) this.#cursor = message.cursor;
  }

  #sendSubscription(): void {
    if (this.#socket?.readyState !== 1) return;
    const { vehicles, groups } = this.#subscription;
    const all = vehicles === undefined && groups === undefined ? { all: true } : {};
    const since = this.#cursor === null ? {} : { since: this.#cursor };
    this.#socket.send(JSON.stringify({ type: 'subscribe', ...all, ...this.#subscription, ...since }));
  }

  #onClosed(code: number): void {
    this.#drop();
    if (FINAL_CODES.has(code)) return this.#setStatus('unauthorized');
    const delayMs = reconnectDelayMs(this.#attempt, this.#options.random ?? Math.random);
    this.#attempt += 1;
    this.#retry = setTimeout(() => this.#connect(), delayMs);
    this.#setStatus('waiting');
  }

  /**
   * Restarts the timer that detects silence.
   *
   * @param isLast whether silence ends the connection; otherwise a new subscription tests it first
   * @param isRepeated whether the timer was late before
   */
  #watch(ms: number, isLast: boolean, isRepeated = false): void {
    if (this.#silence !== null) clearTimeout(this.#silence);
    const dueMs = performance.now() + ms;
    this.#silence = setTimeout(() => {
      const isLate = performance.now() > dueMs + LATE_MS;
      if (isLate && !isRepeated) return this.#watch(WAITING_MESSAGES_MS, isLast, true);
      if (isLast) return this.#onClosed(1006);
      this.#sendSubscription();
      this.#watch(REPLY_MS, true);
    }, ms);
  }

  #drop(): void {
    if (this.#retry !== null) clearTimeout(this.#retry);
    if (this.#silence !== null) clearTimeout(this.#silence);
    this.#retry = this.#silence = this.#heartbeatMs = null;
    this.#onPong?.(false);
    const socket = this.#socket;
    this.#socket = null;
    if (socket !== null && socket.readyState <= 1) socket.close();
  }

  #setStatus(status: LiveStatus): void {
    if (status === this.#status) return;
    this.#status = status;
    this.#options.onStatus?.(status);
  }
}
