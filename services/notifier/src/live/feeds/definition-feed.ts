import type { Definition, DefinitionChange, DefinitionKind, Directory, User, VehicleId } from '@outrider/domain';
import type { LiveClient } from '../client.ts';
import type { Connections } from '../connections.ts';
import { jsonFrame } from '../frames.ts';
import { KeyIndex } from '../key-index.ts';
import type { LiveMetrics } from '../live-metrics.ts';
import { dependentsOf, isSameViewer, keysOfViewer, maySeeDefinition, viewerKeysOf } from '../viewers.ts';

export interface DefinitionFeedContext {
  directory: Directory;
  connections: Pick<Connections, 'of'>;
  metrics: Pick<LiveMetrics, 'sent'>;
  /** A client was notified of vehicles that it could not see before. */
  onVehiclesAdded(client: LiveClient, vehicleIds: readonly VehicleId[]): void;
  /** The rights of the client's user have changed. */
  onRights(client: LiveClient): void;
}

/** Change of a definition as one client sees it. A client can't distinguish a deletion from a lost right. */
interface ClientChange {
  kind: DefinitionKind;
  id: string;
  change: 'added' | 'changed' | 'removed';
  version: number | null;
}

type Clients = ReadonlySet<LiveClient>;

const MAX_IN_MESSAGE = 1000;
const NOBODY: Clients = new Set();

/**
 * Sends changes of definitions to the clients that may see them, including gained and lost rights. Clients are indexed
 * by what they may see, so the cost of a change depends on its viewers. Changes for a slow client are conflated.
 */
export class DefinitionFeed {
  readonly #context: DefinitionFeedContext;
  readonly #index = new KeyIndex<LiveClient>();
  readonly #pending = new Map<LiveClient, Map<string, ClientChange>>();
  /** Clients to flush once they have taken what they were sent. */
  readonly #slow = new Set<LiveClient>();
  #isScheduled = false;

  constructor(context: DefinitionFeedContext) {
    this.#context = context;
  }

  /** Indexes a client by what it may see: it subscribed, or its user changed. */
  update(client: LiveClient): void {
    const { subscription } = client;
    if (!subscription?.definitions) this.#pending.delete(client);
    const user = client.callerIn(this.#context.directory);
    const isInterested = subscription?.definitions || subscription?.unread;
    this.#index.file(client, user !== undefined && isInterested ? keysOfViewer(user) : []);
  }

  remove(client: LiveClient): void {
    this.#index.remove(client);
    this.#pending.delete(client);
  }

  /**
   * Finds the viewers of a definition that is about to change. To be called before the change is applied.
   *
   * @returns a function that notifies them, to be called once the change is applied and the clients of a changed user
   *   are indexed again
   */
  prepare({ kind, id, definition }: DefinitionChange): () => void {
    if (this.#index.size === 0) return () => {};
    const { directory } = this.#context;
    const before = directory.get(kind, id);
    const viewersBefore = before === null ? NOBODY : this.#viewersOf(before);
    const dependents = [...dependentsOf(before, definition, directory)].map((dependent) => ({
      dependent,
      viewersBefore: this.#viewersOf(dependent),
    }));
    return () => {
      const after = directory.get(kind, id);
      const viewers = after === null ? NOBODY : this.#viewersOf(after);
      this.#notify({ kind, id }, viewersBefore, viewers, after?.version ?? null, 'changed');
      for (const { dependent, viewersBefore } of dependents)
        this.#notify(dependent, viewersBefore, this.#viewersOf(dependent), dependent.version, 'same');
      if (before?.kind === 'user' && after?.kind === 'user') this.#onUser(before, after);
      this.#flushSoon();
    };
  }

  /** Sends the waiting changes to a client, until it is slow. */
  flush(client: LiveClient): void {
    const changes = this.#pending.get(client);
    if (changes === undefined || client.catchingUp || !client.open) return;
    while (changes.size > 0) {
      if (client.slow) return this.#flushWhenDrained(client);
      const some = [...changes.entries().take(MAX_IN_MESSAGE)];
      for (const [key] of some) changes.delete(key);
      client.send(jsonFrame({ type: 'definition', changes: some.map(([, change]) => change) }));
      this.#context.metrics.sent.definition.inc();
      const added = some.filter(([, { kind, change }]) => kind === 'vehicle' && change === 'added');
      if (added.length > 0)
        this.#context.onVehiclesAdded(
          client,
          added.map(([, { id }]) => id as VehicleId),
        );
    }
    this.#pending.delete(client);
  }

  /** Sends a user's own clients what they gain and lose by changed rights, which affect all definitions. */
  #onUser(before: User, after: User): void {
    const clients = [...this.#context.connections.of(after.id)].filter((client) => this.#index.has(client));
    if (clients.length === 0 || isSameViewer(before, after)) return;
    const { onRights } = this.#context;
    for (const client of clients) onRights(client);
    // Clients without an API key all see the same; each key may allow something else.
    const alike = clients.filter(({ grant }) => grant === null);
    this.#sendDifference(alike, before, after);
    for (const client of clients)
      if (client.grant !== null) this.#sendDifference([client], client.callerFor(before), client.callerFor(after));
  }

  #sendDifference(clients: readonly LiveClient[], before: User, after: User): void {
    if (clients.length === 0) return;
    const { directory } = this.#context;
    for (const definition of directory.all()) {
      // The user's own definition was already sent to the user as a viewer of it.
      if (definition.id === after.id) continue;
      const could = maySeeDefinition(before, definition, directory);
      const can = maySeeDefinition(after, definition, directory);
      if (could === can) continue;
      const { kind, id, version } = definition;
      for (const client of clients)
        this.#add(client, { kind, id, change: can ? 'added' : 'removed', version: can ? version : null });
    }
  }

  #viewersOf(definition: Definition): Clients {
    const { directory } = this.#context;
    const viewers = new Set<LiveClient>();
    for (const key of viewerKeysOf(definition, directory))
      for (const client of this.#index.entry(key)?.members ?? []) {
        const user = client.callerIn(directory);
        if (user !== undefined && maySeeDefinition(user, definition, directory)) viewers.add(client);
      }
    return viewers;
  }

  #notify(
    { kind, id }: { kind: DefinitionKind; id: string },
    before: Clients,
    after: Clients,
    version: number | null,
    itself: 'changed' | 'same',
  ): void {
    for (const client of before.difference(after)) {
      this.#add(client, { kind, id, change: 'removed', version: null });
      this.#context.onRights(client);
    }
    for (const client of after)
      if (!before.has(client)) {
        this.#add(client, { kind, id, change: 'added', version });
        this.#context.onRights(client);
      } else if (itself === 'changed') this.#add(client, { kind, id, change: 'changed', version });
  }

  #add(client: LiveClient, change: ClientChange): void {
    if (!client.subscription?.definitions) return;
    let changes = this.#pending.get(client);
    if (changes === undefined) {
      changes = new Map();
      this.#pending.set(client, changes);
    }
    const key = `${change.kind} ${change.id}`;
    const isStillNew = change.change === 'changed' && changes.get(key)?.change === 'added';
    changes.set(key, isStillNew ? { ...change, change: 'added' } : change);
  }

  #flushSoon(): void {
    if (this.#isScheduled || this.#pending.size === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      for (const client of this.#pending.keys()) this.flush(client);
    });
  }

  #flushWhenDrained(client: LiveClient): void {
    if (this.#slow.has(client)) return;
    this.#slow.add(client);
    void client.drained().then(() => {
      this.#slow.delete(client);
      this.flush(client);
    });
  }
}
