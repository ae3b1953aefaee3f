import {
  type AddressedCommand,
  type Clock,
  type CommandOutcome,
  SYSTEM_CLOCK,
  type TerminalCommand,
  type TerminalId,
  type Timer,
} from '@outrider/domain';
import type { Hub, Unsubscribe } from './hub.ts';

/*
 * Sends commands to connected terminals, over publish and subscribe. A command is addressed to the gateway that is
 * known to have the terminal, or to all gateways. The gateway that has it acknowledges at once, and sends the outcome
 * later. Nothing is stored: a command that no gateway acknowledges fails, and its sender is notified.
 */

const COMMANDS = 'terminal-commands';
const PRESENCE = 'terminal-presence';
const ROLL_CALL = 'terminal-roll-call';
const answersTo = (sender: string) => `terminal-answers:${sender}`;

/** How long a gateway may take to acknowledge that it has the terminal. */
const TAKEN_MS = 4000;
/** A gateway that sends no outcome within the timeout and this time counts as gone. */
const OUTCOME_GRACE_MS = 2000;
const MAX_TIMEOUT_MS = 60_000;
const MAX_UNDER_WAY = 1000;
const ROLL_CALL_MS = 60_000;
/** A gateway may be late in reporting a terminal, so the roll call is repeated soon. */
const ROLL_CALL_SOON_MS = 1000;
/** A terminal that no gateway has reported for two and a half roll calls counts as disconnected. */
const STALE_MS = 150_000;
const MAX_TERMINALS = 200_000;
/** Maximum number of terminals in one message. */
const PRESENCE_BATCH = 500;

type CommandMessage = AddressedCommand & { id: string; sender: string; gateway: string | null };
/** Queries a gateway whether it has a terminal. */
type ProbeMessage = Pick<CommandMessage, 'id' | 'sender' | 'gateway' | 'terminalId'> & { isProbe: true };
type AnswerMessage = { id: string; taken: true } | { id: string; outcome: CommandOutcome };
interface PresenceMessage {
  gateway: string;
  online?: readonly TerminalId[];
  /** Link facts of each online terminal, in the same order. */
  links?: readonly TerminalLinkFacts[];
  offline?: readonly TerminalId[];
}

/** A command that waits for its outcome. */
interface UnderWay {
  terminalId: TerminalId;
  timeoutMs: number;
  timer: Timer;
  resolve(outcome: CommandOutcome): void;
}

/** Terminals that take commands, for a service that sends them. */
export interface TerminalCommands {
  /**
   * Sends a command to a terminal and waits for its response.
   *
   * @param options.timeoutMs how long the terminal may take to respond, 60 s at most
   * @returns never rejects because of the terminal
   */
  send(
    terminalId: TerminalId,
    command: TerminalCommand,
    options: { timeoutMs: number; signal?: AbortSignal },
  ): Promise<CommandOutcome>;
  /** Queries whether a gateway has the terminal now. */
  isReachable(terminalId: TerminalId): Promise<boolean>;
  /** The last report by gateways: a hint, which a command may prove wrong. */
  isOnline(terminalId: TerminalId): boolean;
  /** Calls the listener when a terminal connects or disconnects. @returns a function that removes the listener */
  onPresence(listener: (terminalId: TerminalId, online: boolean) => void): () => void;
  close(): Promise<void>;
}

interface Options {
  clock?: Clock;
  onError?: (error: unknown) => void;
}

/** Starts sending commands over the hub, and makes a roll call of the connected terminals. */
export function openTerminalCommands(hub: Hub, options: Options = {}): Promise<TerminalCommands> {
  return new HubTerminalCommands(hub, options).open();
}

class HubTerminalCommands implements TerminalCommands {
  readonly #hub: Hub;
  readonly #clock: Clock;
  readonly #onError: (error: unknown) => void;
  readonly #sender = crypto.randomUUID();
  readonly #underWay = new Map<string, UnderWay>();
  readonly #probes = new Map<string, (isReachable: boolean) => void>();
  readonly #present = new Map<TerminalId, { gateway: string; seenMs: number }>();
  readonly #listeners = new Set<(terminalId: TerminalId, online: boolean) => void>();
  #subscriptions: Unsubscribe[] = [];
  #rollCall: Timer | null = null;
  #rollCallSoon: Timer | null = null;

  constructor(hub: Hub, { clock = SYSTEM_CLOCK, onError = () => {} }: Options) {
    this.#hub = hub;
    this.#clock = clock;
    this.#onError = onError;
  }

  async open(): Promise<TerminalCommands> {
    this.#subscriptions = [
      await this.#hub.subscribe(answersTo(this.#sender), (text) => this.#takeAnswer(text)),
      await this.#hub.subscribe(PRESENCE, (text) => this.#takePresence(text)),
    ];
    this.#callTheRoll();
    this.#rollCall = this.#clock.every(ROLL_CALL_MS, () => this.#callTheRoll());
    this.#rollCall.unref();
    return this;
  }

  send(
    terminalId: TerminalId,
    command: TerminalCommand,
    { timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal },
  ): Promise<CommandOutcome> {
    if (signal?.aborted) return Promise.resolve({ outcome: 'aborted' });
    if (this.#underWay.size >= MAX_UNDER_WAY) return Promise.resolve({ outcome: 'overloaded' });
    const id = crypto.randomUUID();
    const abort = () => this.#finish(id, { outcome: 'aborted' });
    return new Promise<CommandOutcome>((resolve) => {
      const bounded = Math.min(timeoutMs, MAX_TIMEOUT_MS);
      const timer = this.#clock.after(TAKEN_MS, () => {
        this.#missed(terminalId);
        // A gateway may have had the terminal, and its acknowledgement may have been lost.
        this.#finish(id, { outcome: 'offline', maybeSent: true });
      });
      this.#underWay.set(id, { terminalId, timeoutMs: bounded, timer, resolve });
      signal?.addEventListener('abort', abort, { once: true });
      const gateway = this.#present.get(terminalId)?.gateway ?? null;
      const message: CommandMessage = { id, sender: this.#sender, gateway, terminalId, command, timeoutMs: bounded };
      this.#hub.publish(COMMANDS, JSON.stringify(message)).catch((error) => {
        this.#onError(error);
        this.#finish(id, { outcome: 'offline' });
      });
    }).finally(() => signal?.removeEventListener('abort', abort));
  }

  async isReachable(terminalId: TerminalId): Promise<boolean> {
    const gateway = this.#present.get(terminalId)?.gateway;
    if (gateway === undefined || this.#probes.size >= MAX_UNDER_WAY) return false;
    const id = crypto.randomUUID();
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = this.#clock.after(TAKEN_MS, () => resolve(false));
    this.#probes.set(id, resolve);
    try {
      const message: ProbeMessage = { id, sender: this.#sender, gateway, terminalId, isProbe: true };
      await this.#hub.publish(COMMANDS, JSON.stringify(message));
      const isReachable = await promise;
      if (!isReachable) this.#missed(terminalId);
      return isReachable;
    } catch (error) {
      this.#onError(error);
      return false;
    } finally {
      timer.cancel();
      this.#probes.delete(id);
    }
  }

  isOnline(terminalId: TerminalId): boolean {
    return this.#present.has(terminalId);
  }

  onPresence(listener: (terminalId: TerminalId, online: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#rollCall?.cancel();
    this.#rollCallSoon?.cancel();
    await Promise.all(this.#subscriptions.map((leave) => leave()));
    for (const id of [...this.#underWay.keys()]) this.#finish(id, { outcome: 'aborted' });
    for (const resolve of this.#probes.values()) resolve(false);
    this.#listeners.clear();
  }

  #takeAnswer(text: string): void {
    const message = parse<AnswerMessage>(text);
    if (!message) return;
    this.#probes.get(message.id)?.('taken' in message);
    const waiting = this.#underWay.get(message.id);
    if (!waiting) return;
    if ('outcome' in message) {
      if (message.outcome.outcome === 'offline') this.#missed(waiting.terminalId);
      return this.#finish(message.id, message.outcome);
    }
    waiting.timer.cancel();
    const outcomeWithinMs = waiting.timeoutMs + OUTCOME_GRACE_MS;
    waiting.timer = this.#clock.after(outcomeWithinMs, () => this.#finish(message.id, { outcome: 'unanswered' }));
  }

  #finish(id: string, outcome: CommandOutcome): void {
    const waiting = this.#underWay.get(id);
    if (waiting === undefined) return;
    this.#underWay.delete(id);
    waiting.timer.cancel();
    waiting.resolve(outcome);
  }

  #takePresence(text: string): void {
    const message = parse<PresenceMessage>(text);
    if (!message) return;
    const { gateway } = message;
    const seenMs = this.#clock.steadyMs();
    for (const terminalId of message.online ?? []) {
      const known = this.#present.has(terminalId);
      if (!known && this.#present.size >= MAX_TERMINALS) continue;
      this.#present.set(terminalId, { gateway, seenMs });
      if (!known) this.#notify(terminalId, true);
    }
    for (const terminalId of message.offline ?? [])
      if (this.#present.get(terminalId)?.gateway === gateway) this.#leave(terminalId);
  }

  #notify(terminalId: TerminalId, online: boolean): void {
    for (const listener of this.#listeners) listener(terminalId, online);
  }

  #leave(terminalId: TerminalId): void {
    if (this.#present.delete(terminalId)) this.#notify(terminalId, false);
  }

  #missed(terminalId: TerminalId): void {
    this.#leave(terminalId);
    this.#callTheRollSoon();
  }

  #callTheRoll(): void {
    for (const [terminalId, { seenMs }] of this.#present)
      if (this.#clock.steadyMs() - seenMs > STALE_MS) this.#leave(terminalId);
    this.#hub.publish(ROLL_CALL, '').catch(this.#onError);
  }

  #callTheRollSoon(): void {
    this.#rollCallSoon ??= this.#clock.after(ROLL_CALL_SOON_MS, () => {
      this.#rollCallSoon = null;
      this.#callTheRoll();
    });
    this.#rollCallSoon.unref();
  }
}

/** Facts that decide which gateway has a terminal, if it is connected to several. */
export interface TerminalLinkFacts {
  /** Unix milliseconds at which it identified itself. */
  sinceMs: number;
  /** Whether it authenticated by a secret, a code or a certificate. */
  isProven: boolean;
  /** Whether it has sent something recently. */
  isInUse: boolean;
}

/**
 * Decides between connections of one terminal to two gateways: anyone who knows the id of a terminal may connect as it.
 * An authenticated connection precedes one that is not. Among authenticated ones the newest wins: the terminal has
 * reconnected. Among the others, one in use precedes a silent one, and an older one a newer.
 */
export function outranks(mine: TerminalLinkFacts, theirs: TerminalLinkFacts): boolean {
  if (mine.isProven !== theirs.isProven) return mine.isProven;
  if (!mine.isProven && mine.isInUse !== theirs.isInUse) return mine.isInUse;
  const isOlder = mine.sinceMs < theirs.sinceMs;
  return !mine.isProven && mine.isInUse ? isOlder : mine.sinceMs > theirs.sinceMs;
}

/** A gateway's side: the terminals that are connected to it. */
export interface ConnectedTerminals {
  /**
   * Facts of a connected terminal; null if it is not connected. If absent, the last gateway to report the terminal has
   * it.
   */
  link?(terminalId: TerminalId): TerminalLinkFacts | null;
  /** The connected terminals that take commands. */
  online(): Iterable<TerminalId>;
  /** Whether the terminal is connected here. */
  has(terminalId: TerminalId): boolean;
  /**
   * Sends a command to a terminal.
   *
   * @returns null if this gateway does not have the terminal
   */
  deliver(addressed: AddressedCommand): Promise<CommandOutcome> | null;
}

/** Receives the changes of a gateway's terminals. */
export interface TerminalPresence {
  came(terminalId: TerminalId): void;
  went(terminalId: TerminalId): void;
  /** Reports that all of them have disconnected. */
  close(): Promise<void>;
}

/** Takes commands from the hub for the terminals of one gateway, and reports which terminals it has. */
export async function serveTerminalCommands(
  hub: Hub,
  terminals: ConnectedTerminals,
  onError: (error: unknown) => void,
): Promise<TerminalPresence> {
  const gateway = crypto.randomUUID();
  const say = (channel: string, message: unknown) => hub.publish(channel, JSON.stringify(message)).catch(onError);
  // Connects and disconnects of one turn of the event loop are reported together.
  let news = new Map<TerminalId, boolean>();
  let sending: NodeJS.Immediate | null = null;

  async function sendNews(): Promise<void> {
    sending = null;
    const changes = [...news];
    news = new Map();
    for (let i = 0; i < changes.length; i += PRESENCE_BATCH) {
      const batch = changes.slice(i, i + PRESENCE_BATCH);
      const named = (online: boolean) => batch.filter((one) => one[1] === online).map(([terminalId]) => terminalId);
      const online = named(true);
      const links = online.map((terminalId) => terminals.link?.(terminalId) ?? null).filter((link) => link !== null);
      await say(PRESENCE, {
        gateway,
        online,
        offline: named(false),
        ...(links.length === online.length ? { links } : {}),
      } satisfies PresenceMessage);
    }
  }
  function note(terminalId: TerminalId, online: boolean): void {
    news.set(terminalId, online);
    sending ??= setImmediate(() => void sendNews());
  }

  const leaveCommands = await hub.subscribe(COMMANDS, (text) => {
    const message = parse<CommandMessage | ProbeMessage>(text);
    if (!message || (message.gateway !== null && message.gateway !== gateway)) return;
    const { id, sender } = message;
    const answer = (said: AnswerMessage) => say(answersTo(sender), said);
    if ('isProbe' in message) {
      const isHere = terminals.has(message.terminalId);
      void answer(isHere ? { id, taken: true } : { id, outcome: { outcome: 'offline' } });
      return;
    }
    const outcome = terminals.deliver(message);
    if (outcome === null) {
      // A command addressed to this gateway was sent to no other.
      if (message.gateway === gateway) void answer({ id, outcome: { outcome: 'offline' } });
      return;
    }
    void answer({ id, taken: true });
    outcome.then((come) => answer({ id, outcome: come })).catch(onError);
  });
  const leavePresence = await hub.subscribe(PRESENCE, (text) => {
    const message = parse<PresenceMessage>(text);
    if (!message?.links || message.gateway === gateway) return;
    for (const [nth, terminalId] of (message.online ?? []).entries()) {
      const [mine, theirs] = [terminals.link?.(terminalId) ?? null, message.links[nth]];
      // Reported again, after the other gateway: services that send commands use the last report.
      if (mine !== null && theirs !== undefined && outranks(mine, theirs)) note(terminalId, true);
    }
  });
  const leaveRollCall = await hub.subscribe(ROLL_CALL, () => {
    for (const terminalId of terminals.online()) note(terminalId, true);
  });

  return {
    came: (terminalId) => note(terminalId, true),
    went: (terminalId) => note(terminalId, false),
    async close() {
      await Promise.all([leaveCommands(), leavePresence(), leaveRollCall()]);
      for (const terminalId of terminals.online()) news.set(terminalId, false);
      if (sending !== null) clearImmediate(sending);
      await sendNews();
    },
  };
}

/** Parses a message of another instance; null if its format is unknown. */
function parse<Message extends object>(text: string): Message | null {
  try {
    const message: unknown = JSON.parse(text);
    return typeof message === 'object' && message !== null ? (message as Message) : null;
  } catch {
    return null;
  }
}
