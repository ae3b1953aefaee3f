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

/** What needs attention comes first: those that move, idle, stand, are offline, or never sent anything. */
const STATE_ORDER: Record<State, number> = { moving: 0, idling: 1, parking: 2, offline: 3, unknown: 4 };

/** Does the vehicle pass the filter? The state counts only where `withState`. */
export function passes(fleet: Fleet, index: number, filter: Filter, withState = true): boolean {
  const vehicle = fleet.vehicles[index];
  if (vehicle === undefined) return false;
  if (filter.groupId !== null && !vehicle.groupIds.includes(filter.groupId)) return false;
  if (filter.only !== null && !filter.only.has(vehicle.id)) return false;
  if (withState && filter.state !== null && fleet.stateOf(index) !== filter.state) return false;
  const { search } = filter;
  if (search === '') return true;
  return [vehicle.name, vehicle.plate, vehicle.terminalId].some((text) => text?.toLowerCase().includes(search));
}

/** Indexes of the vehicles of a list, in its order; equal ones by name. */
export function listed(fleet: Fleet, filter: Filter, sort: Sort, language: string): number[] {
  const indexes: number[] = [];
  for (let index = 0; index < fleet.count; index += 1) if (passes(fleet, index, filter)) indexes.push(index);
  const collator = new Intl.Collator(language, { numeric: true, sensitivity: 'base' });
  const byName = (a: number, b: number) =>
    collator.compare(fleet.vehicles[a]?.name ?? '', fleet.vehicles[b]?.name ?? '');
  const orders: Record<Sort, (a: number, b: number) => number> = {
    name: byName,
    state: (a, b) => STATE_ORDER[fleet.stateOf(a)] - STATE_ORDER[fleet.stateOf(b)] || byName(a, b),
    contact: (a, b) => (fleet.contactMs[b] ?? 0) - (fleet.contactMs[a] ?? 0) || byName(a, b),
  };
  return indexes.sort(orders[sort]);
}

/** How many vehicles are in each state, of those that pass the rest of the filter. */
export function countStates(fleet: Fleet, filter: Filter): Record<State, number> {
  const counts = Object.fromEntries(STATES.map((state) => [state, 0])) as Record<State, number>;
  for (let index = 0; index < fleet.count; index += 1)
    if (passes(fleet, index, filter, false)) counts[fleet.stateOf(index)] += 1;
  return counts;
}
