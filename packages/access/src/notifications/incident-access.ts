import {
  type Colleague,
  type Directory,
  INCIDENT_CHANNEL,
  type Incident,
  type IncidentAct,
  type IncidentEntry,
  type IncidentId,
  incidentNews,
  maySeeIncident,
  organisationOf,
  type User,
  type UserId,
} from '@outrider/domain';
import type { Hub } from '@outrider/hub';
import { IncidentClosedError, type IncidentFilter, type Page, type Paging, type Registry } from '@outrider/registry';
import { badField, notFound, Problem } from '../problem.ts';
import { bounded } from '../registry-refusals.ts';
import { requireRight } from '../rights.ts';
import { type Search, type SearchCursor, searched } from '../search.ts';

export interface IncidentSources {
  registry: Pick<Registry, 'incidents'>;
  directory: Directory;
  hub: Pick<Hub, 'publish'>;
}

/** An incident with its history. */
export interface ListedIncident {
  incident: Incident;
  entries: IncidentEntry[];
}

/**
 * Incidents that one caller handles: those of their own rules, and those shared in their organisation, while the caller
 * may see their subject.
 */
export class IncidentAccess {
  readonly #caller: User;
  readonly #sources: IncidentSources;

  constructor(caller: User, sources: IncidentSources) {
    this.#caller = caller;
    this.#sources = sources;
  }

  /** A page, and the number of unacknowledged incidents. */
  async list(filter: IncidentFilter, paging: Paging): Promise<Page<Incident> & { openCount: number }> {
    const { registry, directory } = this.#sources;
    const audience = { userId: this.#caller.id, organisationId: organisationOf(this.#caller) };
    const page = await registry.incidents.list(audience, filter, paging);
    const open = (await registry.incidents.open(audience)).filter((each) =>
      maySeeIncident(this.#caller, each, directory),
    );
    const openCount = open.reduce((sum, { count }) => sum + count, 0);
    return { ...page, items: page.items.filter((incident) => this.#maySee(this.#caller, incident)), openCount };
  }

  async get(id: IncidentId): Promise<ListedIncident> {
    const incident = await this.#incident(id);
    return { incident, entries: await this.#sources.registry.incidents.entries(id) };
  }

  async act(id: IncidentId, act: IncidentAct): Promise<ListedIncident> {
    requireRight(this.#caller, 'edit-notifications');
    const seen = await this.#incident(id);
    if (act.kind === 'assigned' && act.assigneeId !== null && !this.#mayBeAssigned(act.assigneeId, seen))
      throw badField('/assigneeId', 'There is no account with this id that may see the incident.');
    const { registry, hub } = this.#sources;
    const incident = await bounded(registry.incidents.act(id, act, this.#caller.id)).catch(refuseClosed);
    const entries = await registry.incidents.entries(id);
    // Notifies the live API. A client that misses the message gets the change with its next request.
    await hub.publish(INCIDENT_CHANNEL, JSON.stringify(incidentNews(incident))).catch(() => {});
    return { incident, entries };
  }

  /** Accounts that may see the incident. */
  async assignees(id: IncidentId, search: Search<'name'>): Promise<{ items: Colleague[]; next: SearchCursor | null }> {
    const incident = await this.#incident(id);
    const users = this.#sources.directory.users.values().filter((user) => this.#maySee(user, incident));
    const { items, next } = searched(users, ['name'], search);
    return { items: items.map(({ id, name }) => ({ id, name })), next };
  }

  /** Name of an account; null if it was deleted. */
  nameOf = (id: UserId): string | null => this.#sources.directory.users.get(id)?.name ?? null;

  async #incident(id: IncidentId): Promise<Incident> {
    const incident = await this.#sources.registry.incidents.get(id);
    if (incident === null || !this.#maySee(this.#caller, incident)) throw notFound();
    return incident;
  }

  #mayBeAssigned(id: UserId, incident: Incident): boolean {
    const user = this.#sources.directory.users.get(id);
    return user !== undefined && this.#maySee(user, incident);
  }

  #maySee(user: User, incident: Incident): boolean {
    return maySeeIncident(user, incidentNews(incident), this.#sources.directory);
  }
}

function refuseClosed(error: unknown): never {
  if (error instanceof IncidentClosedError)
    throw new Problem('conflict', 'The incident is closed: only comments can be added.');
  throw error;
}
