import { type Fleet, STATES, type State } from './fleet.ts';

export type Sort = 'name' | 'state' | 'contact';
export const SORTS: readonly Sort[] = ['name', 'state', 'contact'];

export interface Filter {
  search: string;
  groupId: string | null;
  state: State | null;
  /** Null: all; otherwise only these. */
  only: ReadonlySet<string> | null;
}

/** Vehicles that need attention come first: moving, idling, parking, offline, then those that never sent anything. */
const STATE_ORDER: Record<State, number> = { moving: 0, idling: 1, parking: 2, offline: 3, unknown: 4 };

/** Whether the vehicle passes the filter. The state is checked only if `withState`. */
export function passes(fleet: Fleet, index: number, filter: Filter, withState = true): boolean {
  const vehicle = fleet.vehicles[index];
  if (vehicle === undefined) return false;
  if (filter.groupId !== null && !vehicle.groupIds.includes(filter.groupId)) return false;
  if (filter.only !== null && !filter.only.has(vehicle.id)) return false;
  if (withState && filter.state !== null && fleet.stateOf(index) !== filter.state) return false;
  const { search } = filter;
  if (search === '') return true;
  const driver = fleet.drivingOf(vehicle.id)?.driver?.name;
  const { name, plate, terminalId, externalId } = vehicle;
  return [name, plate, terminalId, externalId, driver].some((text) => text?.toLowerCase().includes(search));
}

interface NameOrder {
  definitions: number;
  language: string;
  /** Indexes in the order of the names. */
  indexes: Uint32Array;
}
const nameOrders = new WeakMap<Fleet, NameOrder>();

/** Order of vehicles by name. Comparing 10,000 names takes long, so it is cached until a definition changes. */
function nameOrder(fleet: Fleet, language: string): Uint32Array {
  const known = nameOrders.get(fleet);
  if (known?.definitions === fleet.definitions && known.language === language) return known.indexes;
  const collator = new Intl.Collator(language, { numeric: true, sensitivity: 'base' });
  const names = fleet.vehicles.map(({ name }) => name);
  const indexes = Uint32Array.from(names.keys()).sort((a, b) =>
    collator.compare(names[a] as string, names[b] as string),
  );
  nameOrders.set(fleet, { definitions: fleet.definitions, language, indexes });
  return indexes;
}

/** Indexes of the listed vehicles in display order. Ties are ordered by name. */
export function listed(fleet: Fleet, filter: Filter, sort: Sort, language: string): number[] {
  const indexes: number[] = [];
  for (const index of nameOrder(fleet, language)) if (passes(fleet, index, filter)) indexes.push(index);
  // The sort is stable: ties keep the order of their names.
  if (sort === 'state') indexes.sort((a, b) => STATE_ORDER[fleet.stateOf(a)] - STATE_ORDER[fleet.stateOf(b)]);
  if (sort === 'contact') indexes.sort((a, b) => (fleet.contactMs[b] as number) - (fleet.contactMs[a] as number));
  return indexes;
}

/** How many vehicles are in each state, of those that pass the rest of the filter. */
export function countStates(fleet: Fleet, filter: Filter): Record<State, number> {
  const counts = Object.fromEntries(STATES.map((state) => [state, 0])) as Record<State, number>;
  for (let index = 0; index < fleet.count; index += 1)
    if (passes(fleet, index, filter, false)) counts[fleet.stateOf(index)] += 1;
  return counts;
}
