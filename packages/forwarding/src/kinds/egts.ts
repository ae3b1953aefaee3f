import { guardedSockets } from '@outrider/channels';
import type { TerminalId } from '@outrider/domain';
import { type DispatcherReply, EgtsDispatcher, type ForwardedPosition } from '@outrider/protocols';
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

/** Positions by EGTS, as one platform forwards them to another. */
export interface EgtsDestination extends HostSettings {
  /** Id of this platform at the receiving one. */
  dispatcherId: number;
  username: string | null;
}

const RECORDS_PER_PACKET = 50;
const MAX_OBJECT_ID = 0xffffffff;
/**
 * Result codes that concern the record itself: its data (132, 134), its address or object (143, 146, 147, 153), its
 * time (154). Other codes may be different after a retry.
 */
const ABOUT_THE_RECORD: ReadonlySet<number> = new Set([132, 134, 143, 146, 147, 153, 154]);
/** The record was processed before. */
const DOUBLE = 135;

export const egtsDestination: DestinationKind<EgtsDestination> = {
  carriesEvents: false,
  settingNames: ['host', 'port', 'tls', 'dispatcherId', 'username'],
  fault: hostSettingsFault,
  secretFault({ username }, secret) {
    if ((username === null) !== (secret === null)) return 'A login needs a user name and a password.';
    return [username, secret].some((text) => text !== null && !/^[\x20-\x7e]{1,32}$/.test(text))
      ? 'User name and password have 1 to 32 letters, digits and signs of ASCII.'
      : null;
  },
  endpointOf: endpointText,
  open: (settings, secret, context) => new EgtsTarget(settings, secret, context),
};

/**
 * The number that identifies a terminal at the receiving platform: its id, or the last eight digits of an IMEI. Null:
 * it has none.
 */
export function egtsObjectId(terminalId: TerminalId): number | null {
  if (!/^\d+$/.test(terminalId)) return null;
  const whole = Number(terminalId);
  const id = whole <= MAX_OBJECT_ID ? whole : Number(terminalId.slice(-8));
  return id >= 1 ? id : null;
}

class EgtsTarget implements Target {
  readonly #settings: EgtsDestination;
  readonly #password: string | null;
  readonly #context: TargetContext;
  #open: { dispatcher: EgtsDispatcher; link: TerminalLink<DispatcherReply> } | null = null;

  constructor(settings: EgtsDestination, password: string | null, context: TargetContext) {
    this.#settings = settings;
    this.#password = password;
    this.#context = context;
  }

  async send({ items }: Parameters<Target['send']>[0]): Promise<Refusals> {
    const refusals: Refusals = { count: 0, reason: null };
    const positions: ForwardedPosition[] = [];
    for (const { fact } of items) {
      if (fact.type !== 'position') continue;
      const objectId = egtsObjectId(fact.terminalId);
      if (objectId !== null) positions.push({ objectId, position: fact.position });
      else {
        refusals.count++;
        refusals.reason = `Terminal ${fact.terminalId} has an id that EGTS cannot represent.`;
      }
    }
    await within(SEND_TIMEOUT_MS, this.#send(positions, refusals), 'The receiving platform did not take the positions');
    return refusals;
  }

  async test(): Promise<void> {
    await this.#loggedIn();
  }

  async close(): Promise<void> {
    this.#open?.link.close();
    this.#open = null;
  }

  async #send(positions: readonly ForwardedPosition[], refusals: Refusals): Promise<void> {
    if (positions.length === 0) return;
    const { dispatcher, link } = await this.#loggedIn();
    // One packet at a time: the receiving platform gets the positions of a vehicle in order.
    for (let from = 0; from < positions.length; from += RECORDS_PER_PACKET) {
      const { bytes, numbers } = dispatcher.encode(positions.slice(from, from + RECORDS_PER_PACKET));
      link.write(bytes);
      const outstanding = new Set(numbers);
      while (outstanding.size > 0) {
        const reply = await link.next();
        if (reply.type === 'refused') throw new ForwardingError(`The receiving platform answered ${reply.detail}.`);
        if (reply.type !== 'record' || !outstanding.delete(reply.number)) continue;
        if (reply.isAccepted || reply.result === DOUBLE) continue;
        const reason = `The receiving platform refused a position with result ${reply.result}.`;
        if (!ABOUT_THE_RECORD.has(reply.result)) throw new ForwardingError(reason);
        refusals.count++;
        refusals.reason = reason;
      }
    }
  }

  async #loggedIn(): Promise<{ dispatcher: EgtsDispatcher; link: TerminalLink<DispatcherReply> }> {
    if (this.#open?.link.isOpen) return this.#open;
    const { dispatcherId, username } = this.#settings;
    const login = username === null ? null : { user: username, password: this.#password ?? '' };
    const dispatcher = new EgtsDispatcher(dispatcherId, login);
    const link = new TerminalLink(guardedSockets(this.#context), this.#settings, dispatcher);
    this.#open = { dispatcher, link };
    const reply = await link.next();
    if (reply.type !== 'welcome')
      throw new ForwardingError(
        `The receiving platform refused the login: ${reply.type === 'refused' ? reply.detail : 'no answer to it'}.`,
      );
    return this.#open;
  }
}
