import { type Directory, SYSTEM_CLOCK, type User, type UserId } from '@outrider/domain';
import { type DestinationKindName, destinationKind, testDestination } from '@outrider/forwarding';
import type {
  ForwardingDestination,
  ForwardingFields,
  ForwardingSecrets,
  Page,
  Paging,
  Registry,
} from '@outrider/registry';
import { badField, notFound, Problem } from './problem.ts';
import { bounded, current } from './registry-refusals.ts';
import { isOperator, mayManage, requireUnlimited, rightToGroup, rightToVehicle } from './rights.ts';

export interface ForwardingSources {
  registry: Pick<Registry, 'forwardingDestinations'>;
  directory: Directory;
  config: { allowPrivateWebhooks: boolean };
}

/** Fields of a destination that its owner sets. */
export interface ForwardingWish extends Pick<ForwardingFields, 'name' | 'settings' | 'filter' | 'active'> {
  kind: DestinationKindName;
  secret: string | null;
  secretHeaders: Readonly<Record<string, string>>;
}

/** Changed fields of a destination. */
export interface ForwardingChange extends Omit<ForwardingWish, 'kind' | 'secret' | 'secretHeaders'> {
  /** Undefined: unchanged. */
  secret: string | null | undefined;
  /** Headers that are left out are kept; null removes one. */
  secretHeaders: Readonly<Record<string, string | null>>;
}

/** Result of a test. */
export interface ForwardingTest {
  /** Null: the receiving system accepted it. */
  error: string | null;
  tookMs: number;
}

/** Accounts with a running test. */
const testing = new Set<UserId>();

/** Destinations to which positions and events are forwarded. Dealers see their own, operators all. */
export class ForwardingAccess {
  readonly #caller: User;
  readonly #sources: ForwardingSources;

  /** @throws {Problem} for callers who are neither dealers nor operators */
  constructor(caller: User, sources: ForwardingSources) {
    if (!mayManage(caller)) throw new Problem('forbidden', 'Only dealers and operators may use forwarding.');
    this.#caller = caller;
    this.#sources = sources;
  }

  list(paging: Paging): Promise<Page<ForwardingDestination>> {
    return this.#destinations.list(isOperator(this.#caller) ? undefined : this.#caller.id, paging);
  }

  async get(id: string): Promise<ForwardingDestination> {
    const destination = await this.#destinations.get(id);
    if (destination === null || !this.#sees(destination)) throw notFound();
    return destination;
  }

  async add({ secret, secretHeaders, ...wish }: ForwardingWish): Promise<ForwardingDestination> {
    requireUnlimited(this.#caller);
    const secrets = { secret, headers: secretHeaders };
    const fields = this.#checked(wish, secrets);
    this.#requireSeen(wish.filter, null);
    return bounded(this.#destinations.create(this.#caller.id, fields, secrets));
  }

  /** @param change computes the new fields from the current ones */
  async change(
    id: string,
    ifMatch: number | null,
    change: (present: ForwardingDestination) => ForwardingChange,
  ): Promise<ForwardingDestination> {
    requireUnlimited(this.#caller);
    const present = await this.get(id);
    const { secret, secretHeaders, ...wish } = change(present);
    const known = await this.#destinations.secrets(id);
    const changed = {
      ...(secret !== undefined && { secret }),
      ...(Object.keys(secretHeaders).length > 0 && { headers: withHeaders(known.headers, secretHeaders) }),
    };
    const fields = this.#checked({ ...wish, kind: present.kind }, { ...known, ...changed });
    this.#requireSeen(wish.filter, present.filter);
    // Only the version that was checked may be changed.
    return current(this.#destinations.update(id, ifMatch ?? present.version, fields, changed));
  }

  async remove(id: string, ifMatch: number | null): Promise<void> {
    requireUnlimited(this.#caller);
    await this.get(id);
    await current(this.#destinations.delete(id, ifMatch));
  }

  /** Forwards once more what was written to the log from a time on. */
  async replay(id: string, fromMs: number, nowMs: number): Promise<ForwardingDestination> {
    requireUnlimited(this.#caller);
    await this.get(id);
    if (fromMs > nowMs) throw badField('/from', 'It must not be in the future.');
    return this.#destinations.replay(id, fromMs);
  }

  /** Makes one attempt to send to the receiving system. */
  async test(id: string): Promise<ForwardingTest> {
    requireUnlimited(this.#caller);
    const destination = await this.get(id);
    if (testing.has(this.#caller.id))
      throw new Problem('too-many-requests', 'A test of this account is already running: wait until it has finished.', {
        headers: { 'retry-after': '10' },
      });
    testing.add(this.#caller.id);
    try {
      const startedAtMs = SYSTEM_CLOCK.steadyMs();
      const secrets = await this.#destinations.secrets(id);
      const error = await testDestination(destination, secrets, this.#sources.config.allowPrivateWebhooks);
      await this.#destinations.noteTest(destination, error === null);
      return { error, tookMs: Math.round(SYSTEM_CLOCK.steadyMs() - startedAtMs) };
    } finally {
      testing.delete(this.#caller.id);
    }
  }

  get #destinations(): Registry['forwardingDestinations'] {
    return this.#sources.registry.forwardingDestinations;
  }

  #sees({ ownerId }: ForwardingDestination): boolean {
    return isOperator(this.#caller) || ownerId === this.#caller.id;
  }

  #checked(wish: Omit<ForwardingFields, 'endpoint'>, { secret, headers }: ForwardingSecrets): ForwardingFields {
    const of = destinationKind(wish.kind);
    if (of === null) throw notFound();
    const { settings, filter } = wish;
    const names: readonly string[] = of.settingNames;
    const stray = Object.keys(settings).find((name) => !names.includes(name));
    if (stray !== undefined)
      throw badField(`/settings/${stray}`, `A destination of kind ${wish.kind} has no such setting.`);
    const fault = of.fault(settings, { allowPrivateAddresses: this.#sources.config.allowPrivateWebhooks });
    if (fault !== null) throw badField(`/settings${fault.pointer}`, fault.detail);
    const wrong = of.secretFault(settings, secret);
    if (wrong !== null) throw badField('/secret', wrong);
    const hasHeaders = Object.keys(headers).length > 0;
    if (hasHeaders && of.secretHeadersFault === undefined)
      throw badField('/secretHeaders', `A destination of kind ${wish.kind} has no headers.`);
    const wrongHeader = of.secretHeadersFault?.(settings, headers) ?? null;
    if (wrongHeader !== null) throw badField(`/secretHeaders${wrongHeader.pointer}`, wrongHeader.detail);
    if (filter.events && !of.carriesEvents)
      throw badField('/filter/events', `A destination of kind ${wish.kind} carries only positions.`);
    if (!filter.events && !filter.positions)
      throw badField('/filter', 'At least one of positions and events must be true.');
    return { ...wish, endpoint: of.endpointOf(settings) };
  }

  /** @param known what the filter named before: it may stay, even if it is deleted or no longer visible */
  #requireSeen(wanted: ForwardingFields['filter'], known: ForwardingFields['filter'] | null): void {
    const { vehicles, groups } = this.#sources.directory;
    for (const [nth, id] of (wanted.vehicleIds ?? []).entries())
      if (!known?.vehicleIds?.includes(id) && rightToVehicle(this.#caller, vehicles.get(id)) === 'none')
        throw badField(`/filter/vehicleIds/${nth}`, 'There is no such vehicle.');
    for (const [nth, id] of (wanted.groupIds ?? []).entries())
      if (!known?.groupIds?.includes(id) && rightToGroup(this.#caller, groups.get(id)) === 'none')
        throw badField(`/filter/groupIds/${nth}`, 'There is no such group.');
  }
}

/** Names of headers are case-insensitive. */
function withHeaders(
  known: Readonly<Record<string, string>>,
  changes: Readonly<Record<string, string | null>>,
): Record<string, string> {
  const headers = new Map(Object.entries(known));
  for (const [name, value] of Object.entries(changes)) {
    for (const other of headers.keys()) if (other.toLowerCase() === name.toLowerCase()) headers.delete(other);
    if (value !== null) headers.set(name, value);
  }
  return Object.fromEntries(headers);
}
