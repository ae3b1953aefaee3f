import { type ConnectGuarded, guardedSockets } from '@outrider/channels';
import type { Position, TerminalId } from '@outrider/domain';
import { createWialonIpsSender, type SimulatorReply, type TerminalSimulator } from '@outrider/protocols';
import {
  type DestinationKind,
  ForwardingError,
  type Refusals,
  SEND_TIMEOUT_MS,
  type Target,
  type TargetContext,
  within,
} from '../destination-kind.ts';
import { endpointText, type HostSettings, hostSettingsFault } from '../host-settings.ts';
import { TerminalLink } from '../terminal-link.ts';

/** Positions by Wialon IPS 2.0: each terminal has its own connection, and logs in with its own number. */
export type WialonIpsDestination = HostSettings;

/** Maximum number of connections that are kept open. */
const MAX_LINKS = 64;
/** Number of terminals whose positions are sent at the same time. */
const AT_ONCE = 8;
/** Time for which an unknown terminal is not logged in again. */
const UNKNOWN_FOR_MS = 60_000;
const MAX_UNKNOWN = 10_000;
/** Response if the receiving system does not know the terminal, or does not accept it. */
const LOGIN_REFUSED = '#AL#0';

export const wialonIpsDestination: DestinationKind<WialonIpsDestination> = {
  carriesEvents: false,
  settingNames: ['host', 'port', 'tls'],
  fault: hostSettingsFault,
  secretFault: (_, secret) =>
    secret !== null && !/^[^;#|\p{Cc}]+$/u.test(secret)
      ? 'A password must not hold ; # | and control characters.'
      : null,
  endpointOf: endpointText,
  open: (settings, secret, context) => new WialonIpsTarget(settings, secret, context),
};

interface Link {
  link: TerminalLink<SimulatorReply>;
  speaker: TerminalSimulator;
}

class WialonIpsTarget implements Target {
  readonly #settings: WialonIpsDestination;
  readonly #password: string | null;
  readonly #context: TargetContext;
  readonly #connect: ConnectGuarded;
  /** Least recently used first. */
  readonly #links = new Map<TerminalId, Link>();
  /** Terminals that the receiving system does not know, each with the end of its login pause in Unix milliseconds. */
  readonly #unknown = new Map<TerminalId, number>();
  #isClosed = false;

  constructor(settings: WialonIpsDestination, password: string | null, context: TargetContext) {
    this.#settings = settings;
    this.#password = password;
    this.#context = context;
    this.#connect = guardedSockets(context);
  }

  async send({ items }: Parameters<Target['send']>[0]): Promise<Refusals> {
    const byTerminal = new Map<TerminalId, Position[]>();
    for (const { fact } of items) {
      if (fact.type !== 'position') continue;
      const positions = byTerminal.get(fact.terminalId) ?? [];
      positions.push(fact.position);
      byTerminal.set(fact.terminalId, positions);
    }
    const refusals: Refusals = { count: 0, reason: null };
    const waiting = [...byTerminal];
    const work = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
        await this.#sendOf(next[0], next[1], refusals);
    };
    const workers = Promise.all(Array.from({ length: AT_ONCE }, work));
    await within(SEND_TIMEOUT_MS, workers, 'The receiving system did not take the positions');
    return refusals;
  }

  async test(): Promise<void> {
    // No terminal is known here, so the test can only check that a login is answered.
    const link = this.#open('outrider' as TerminalId);
    try {
      const reply = await link.link.next();
      if (reply.type === 'refused' && !reply.detail.endsWith(LOGIN_REFUSED)) throw new ForwardingError(reply.detail);
    } finally {
      link.link.close();
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { link } of this.#links.values()) link.close();
    this.#links.clear();
  }

  async #sendOf(terminalId: TerminalId, positions: readonly Position[], refusals: Refusals): Promise<void> {
    const refuse = (count: number, reason: string) => {
      refusals.count += count;
      refusals.reason = `Terminal ${terminalId}: ${reason}`;
    };
    const link = await this.#loggedIn(terminalId);
    if (typeof link === 'string') return refuse(positions.length, link);
    const most = link.speaker.maxPositionsPerPacket;
    for (let from = 0; from < positions.length; from += most) {
      const some = positions.slice(from, from + most);
      link.link.write(link.speaker.encode(some));
      const reply = await answerOf(link);
      if (reply.type !== 'refused') continue;
      // `#AB#` has the number of accepted messages.
      const taken = Number(/^#AB#(\d+)/.exec(reply.detail)?.[1] ?? 0);
      if (!/^#A[BD]#/.test(reply.detail)) throw new ForwardingError(`The positions were answered ${reply.detail}.`);
      refuse(some.length - Math.min(taken, some.length), `the positions were answered ${reply.detail}.`);
    }
  }

  /** @returns the link, or why the terminal cannot be logged in, if the terminal itself is the reason */
  async #loggedIn(terminalId: TerminalId): Promise<Link | string> {
    const { now } = this.#context;
    if (this.#isClosed) throw new ForwardingError('The connection was closed.');
    if ((this.#unknown.get(terminalId) ?? 0) > now()) return 'the login was refused.';
    const known = this.#links.get(terminalId);
    this.#links.delete(terminalId);
    if (known?.link.isOpen) {
      this.#links.set(terminalId, known);
      return known;
    }
    let opened: Link;
    try {
      opened = this.#open(terminalId);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      return `${error.message}.`;
    }
    this.#links.set(terminalId, opened);
    this.#closeOldest();
    const reply = await answerOf(opened);
    if (reply.type === 'welcome') return opened;
    opened.link.close();
    this.#links.delete(terminalId);
    const detail = reply.type === 'refused' ? reply.detail : 'the login was answered by something else';
    if (!detail.endsWith(LOGIN_REFUSED)) throw new ForwardingError(`Terminal ${terminalId}: ${detail}.`);
    if (this.#unknown.size >= MAX_UNKNOWN) this.#unknown.clear();
    this.#unknown.set(terminalId, now() + UNKNOWN_FOR_MS);
    return `${detail}.`;
  }

  #open(terminalId: TerminalId): Link {
    const speaker = createWialonIpsSender(terminalId, this.#password);
    return { speaker, link: new TerminalLink(this.#connect, this.#settings, speaker) };
  }

  #closeOldest(): void {
    for (const [terminalId, { link }] of this.#links) {
      if (this.#links.size <= MAX_LINKS) break;
      link.close();
      this.#links.delete(terminalId);
    }
  }
}

/** The response to the data that was sent. Commands to terminals are not meant for a platform. */
async function answerOf({ link }: Link): Promise<Exclude<SimulatorReply, { type: 'command' }>> {
  for (;;) {
    const reply = await link.next();
    if (reply.type !== 'command') return reply;
    const answer = reply.answer(false);
    if (answer !== null) link.write(answer);
  }
}
