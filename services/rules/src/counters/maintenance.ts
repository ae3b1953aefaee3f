import {
  type CounterSums,
  type CustomCounter,
  type Directory,
  type MaintenanceDue,
  type MaintenancePlan,
  type MaintenanceState,
  maintenanceStateOf,
  planForVehicle,
  readSteps,
  readSum,
  sumOf,
  type Vehicle,
  type VehicleCounters,
  type VehicleId,
  type VehicleStatus,
} from '@outrider/domain';
import {
  type Counters,
  type KeptCounters,
  type KeptState,
  type Maintenance,
  type PlanBase,
  pendingOf,
} from '@outrider/registry';
import type { CustomCountersStore } from './counting.ts';
import { endedAt, type FindReached, reconcile, timelineOf } from './timeline.ts';

/** Input for the state of a plan, for one vehicle. */
export interface Judged {
  /** The plan, reduced to what applies to the vehicle. */
  plan: MaintenancePlan;
  /** The custom counter that the plan uses. */
  counter: CustomCounter | null;
  vehicle: Pick<Vehicle, 'id' | 'version'>;
  base: PlanBase;
  /** Counted sums, and counters as shown to people; null: nothing is known of the vehicle. */
  counted: { kept: KeptCounters; shown: VehicleCounters } | null;
  status: Pick<VehicleStatus, 'position'> | null;
  before: KeptState | null;
}

/** Vehicles evaluated per batch. */
const AT_ONCE = 500;
const NOTHING: CounterSums = { odometerM: 0, engineMs: 0, custom: {} };

export type MaintenanceStore = Pick<Maintenance, 'plans' | 'states' | 'plansWithStates' | 'saveStates' | 'basesOf'>;

/**
 * Determines the states of all plans, and what began and ended since the last time. The events to publish are stored
 * with the states in one transaction, so a crash loses none. If they are published again, they have the same ids.
 */
export async function judgePlans(
  parts: {
    maintenance: MaintenanceStore;
    counters: Pick<Counters, 'of' | 'kept' | 'correctionsOf'>;
    customCounters: CustomCountersStore;
    directory: Pick<Directory, 'vehicles'>;
    latest(vehicleIds: readonly VehicleId[]): Promise<readonly VehicleStatus[]>;
    /** Returns a search for when a sum of the vehicle was as large as a value. */
    find(vehicleId: VehicleId): FindReached;
  },
  nowMs: number,
  check: () => void,
): Promise<void> {
  const { maintenance } = parts;
  const plans = await maintenance.plans();
  for (const plan of plans) {
    const vehicles = await vehiclesToJudge(plan, parts);
    const before = new Map((await maintenance.states({ planId: plan.id })).map((state) => [state.vehicleId, state]));
    for (let at = 0; at < vehicles.length; at += AT_ONCE) {
      check();
      const judged = await judgedOf(parts, vehicles.slice(at, at + AT_ONCE), before);
      const states: KeptState[] = [];
      for (const each of judged) {
        const state = await judge(each, nowMs, parts.find(each.vehicle.id));
        if (differs(state, each.before)) states.push(state);
      }
      await maintenance.saveStates(states);
    }
    const named = new Set(vehicles.map(({ vehicle }) => vehicle.id));
    const gone = [...before.values()].filter(({ vehicleId }) => !named.has(vehicleId));
    await endStates(parts, gone, nowMs);
  }
  const known = new Set(plans.map(({ id }) => id));
  for (const planId of await maintenance.plansWithStates())
    if (!known.has(planId)) await endStates(parts, await maintenance.states({ planId }), nowMs);
}

/** Vehicles that a plan is for. */
export function vehiclesOf(
  { vehicleId, groupId, dealerId }: Pick<MaintenancePlan, 'vehicleId' | 'groupId' | 'dealerId'>,
  directory: Pick<Directory, 'vehicles'>,
): Vehicle[] {
  if (vehicleId !== null) {
    const vehicle = directory.vehicles.get(vehicleId);
    return vehicle === undefined || vehicle.dealerId !== dealerId ? [] : [vehicle];
  }
  if (groupId === null) return [];
  return [...directory.vehicles.values()].filter(
    (vehicle) => vehicle.dealerId === dealerId && vehicle.groupIds.includes(groupId),
  );
}

type ToJudge = Pick<Judged, 'plan' | 'counter'> & { vehicle: Vehicle };

/** The vehicles of a plan, each with what applies to it. Vehicles to which nothing of the plan applies are left out. */
async function vehiclesToJudge(
  plan: MaintenancePlan,
  { directory, customCounters }: Pick<Parameters<typeof judgePlans>[0], 'directory' | 'customCounters'>,
): Promise<ToJudge[]> {
  const vehicles = vehiclesOf(plan, directory);
  const ids = vehicles.map(({ id }) => id);
  const counters = plan.counterName === null ? null : await customCounters.of(ids);
  return vehicles.flatMap((vehicle) => {
    const going = planForVehicle(plan, counters?.get(vehicle.id) ?? []);
    return going === null ? [] : [{ vehicle, ...going }];
  });
}

/** Adds the readings that people entered to the counted sums, for counters with a manual term. */
async function withReadings(counters: Pick<Counters, 'correctionsOf'>, judged: readonly Judged[]): Promise<Judged[]> {
  const isRead = ({ counter }: Judged) => counter?.terms.some(({ source }) => source === 'manual') ?? false;
  const corrections = await counters.correctionsOf(judged.filter(isRead).map(({ vehicle }) => vehicle.id));
  return judged.map((each) => {
    const { counter, base, counted, vehicle } = each;
    if (counter === null || !isRead(each)) return each;
    const steps = readSteps(counter, corrections.get(vehicle.id) ?? []);
    const read = (sums: CounterSums, atMs: number): CounterSums => ({
      ...sums,
      custom: { ...sums.custom, [counter.id]: sumOf(counter.id, sums) + readSum(steps, atMs) },
    });
    return {
      ...each,
      base: { ...base, sums: base.sums && read(base.sums, base.sinceMs) },
      counted: counted && {
        ...counted,
        kept: { ...counted.kept, sums: read(counted.kept.sums, Number.POSITIVE_INFINITY) },
      },
    };
  });
}

async function judgedOf(
  { maintenance, counters, latest }: Parameters<typeof judgePlans>[0],
  toJudge: readonly ToJudge[],
  before: ReadonlyMap<VehicleId, KeptState>,
): Promise<Judged[]> {
  const [first] = toJudge;
  if (first === undefined) return [];
  const ids = toJudge.map(({ vehicle }) => vehicle.id);
  const [bases, shown, kept, statuses] = await Promise.all([
    maintenance.basesOf(first.plan, ids),
    counters.of(ids),
    counters.kept(ids),
    latest(ids),
  ]);
  const shownOf = new Map(shown.map((each) => [each.vehicleId, each]));
  const keptOf = new Map(kept.map((each) => [each.vehicleId, each]));
  const statusOf = new Map(statuses.map((each) => [each.vehicleId, each]));
  const judged = toJudge.flatMap(({ plan, counter, vehicle }) => {
    const known = bases.get(vehicle.id);
    if (known === undefined) return [];
    // A different counter with the same name counts as a change of the plan.
    const base = counter === null ? known : { ...known, said: `${known.said},${counter.id}` };
    const kept = keptOf.get(vehicle.id);
    const shown = shownOf.get(vehicle.id);
    const counted = kept === undefined || shown === undefined ? null : { kept, shown };
    return [
      {
        plan,
        counter,
        vehicle,
        base,
        counted,
        status: statusOf.get(vehicle.id) ?? null,
        before: before.get(vehicle.id) ?? null,
      },
    ];
  });
  return withReadings(counters, judged);
}

/** State of a plan for a vehicle, with the resulting events. */
export async function judge(judged: Judged, nowMs: number, find: FindReached): Promise<KeptState> {
  const { plan, counter, vehicle, base, counted, status, before } = judged;
  const zero = zeroOf(base, counted);
  const since = { sinceMs: base.sinceMs, sums: usedOf(zero, counted), counter };
  const state = maintenanceStateOf(plan, vehicle.id, since, nowMs);
  const kept = keptOf(judged, state, nowMs);
  // Nothing begins or ends while the past is recounted, or while the sums at the service are unknown.
  const isKnown = counted === null || (base.sums !== null && counted.kept.staleFromMs === null);
  if (!isKnown) return { ...kept, stage: before?.stage ?? 'ok' };
  const position = status?.position ?? null;
  const lasting = kept.published.find(({ phase }) => phase === 'begin') ?? null;
  if (kept.said !== base.said) {
    const isRight = (lasting?.stage ?? 'ok') === state.stage;
    const endReason = base.saidAtMs > (before?.floorMs ?? 0) ? 'plan-changed' : 'corrected';
    if (!isRight && lasting !== null) kept.unsent = [...kept.unsent, endedAt(lasting, nowMs, endReason, position)];
    // Published events stay unchanged: they are based on what was entered then.
    if (isRight) kept.isFrozen = true;
    else Object.assign(kept, begunAnew(kept, nowMs));
    kept.said = base.said;
  }
  const epoch = counted?.kept.epoch ?? 0;
  const isSettled = kept.epoch === epoch || kept.isFrozen;
  const published = kept.published.find(({ phase }) => phase === 'begin')?.stage ?? 'ok';
  if (published === state.stage && (isSettled || kept.published.length === 0)) return { ...kept, epoch };
  const { floorMs, generation } = kept;
  const { stage } = state;
  const counterId = counter?.id ?? null;
  const subject = { plan, vehicle, base, floorMs, generation, counterId, zero, stage, position, nowMs };
  const wanted = await timelineOf(subject, find);
  if (wanted === null) return kept;
  const { published: all, news, written, removed } = reconcile(kept, wanted, nowMs);
  return {
    ...kept,
    published: all,
    epoch,
    unsent: [...kept.unsent, ...news],
    written: [...kept.written, ...written],
    removed: [...kept.removed, ...removed],
    rewritten: [...new Set([...kept.rewritten, ...[...written, ...removed].map(({ id }) => id)])],
    sentIds: [...new Set([...kept.sentIds, ...news.map(({ id }) => id)])],
  };
}

/** The stored state, if the plan still counts from the same service; else the initial state, with what has to end. */
function keptOf({ base, counted, status, before }: Judged, state: MaintenanceState, nowMs: number): KeptState {
  const pending = {
    unsent: before?.unsent ?? [],
    written: before?.written ?? [],
    removed: before?.removed ?? [],
  };
  if (before !== null && before.base === base.key && before.sinceMs === base.sinceMs) return { ...before, ...state };
  const lasting = before?.published.find(({ phase }) => phase === 'begin');
  if (lasting !== undefined && before !== null) {
    const isServiced = base.sinceMs >= before.sinceMs;
    const end = endedAt(
      lasting,
      isServiced ? base.sinceMs : nowMs,
      isServiced ? 'serviced' : 'corrected',
      status?.position ?? null,
    );
    pending.unsent = [...pending.unsent, end];
    if (before.rewritten.includes(end.id)) pending.written = [...pending.written, end];
  }
  return {
    ...state,
    ...pending,
    base: base.key,
    said: base.said,
    floorMs: base.saidAtMs,
    generation: before === null ? 0 : before.generation + 1,
    epoch: counted?.kept.epoch ?? 0,
    isFrozen: false,
    published: [],
    rewritten: [],
    sentIds: [],
  };
}

/** State after people changed the basis of a plan: a wrong event was ended, and the right one begins now. */
function begunAnew({ generation }: KeptState, nowMs: number) {
  return { published: [], rewritten: [], sentIds: [], isFrozen: false, floorMs: nowMs, generation: generation + 1 };
}

/** Sums at the service, when nothing was used up: from the counters that were read then, where they were read. */
function zeroOf({ sums, read }: PlanBase, counted: Judged['counted']): CounterSums | null {
  if (counted === null) return null;
  const { kept, shown } = counted;
  const zero = (name: keyof PlanBase['read']) => {
    const value = read[name];
    // Corrections add the same amount to all sums.
    return value === null ? (sums?.[name] ?? kept.sums[name]) : value - (shown[name] - kept.sums[name]);
  };
  const custom = sums?.custom ?? kept.sums.custom;
  return { odometerM: zero('odometerM'), engineMs: zero('engineMs'), custom };
}

function usedOf(zero: CounterSums | null, counted: Judged['counted']): CounterSums {
  if (zero === null || counted === null) return NOTHING;
  const { sums } = counted.kept;
  const custom = Object.entries(sums.custom).map(([id, sum]) => [id, sum - (zero.custom[id] ?? 0)]);
  return {
    odometerM: sums.odometerM - zero.odometerM,
    engineMs: sums.engineMs - zero.engineMs,
    custom: Object.fromEntries(custom),
  };
}

/** Ends lasting events of plans that no longer apply to their vehicles. Deletes states with nothing left to publish. */
async function endStates(
  { maintenance, directory }: Pick<Parameters<typeof judgePlans>[0], 'maintenance' | 'directory'>,
  states: readonly KeptState[],
  nowMs: number,
): Promise<void> {
  const lastingOf = ({ published }: KeptState) => published.find(({ phase }) => phase === 'begin');
  const lasting = states.filter((state) => lastingOf(state) !== undefined);
  await maintenance.saveStates(
    lasting.map((state) => {
      const reason = directory.vehicles.has(state.vehicleId) ? 'plan-changed' : 'no-longer-watched';
      const end = endedAt(lastingOf(state) as MaintenanceDue, nowMs, reason, null);
      const written = state.rewritten.includes(end.id) ? [...state.written, end] : state.written;
      return { ...state, published: [], unsent: [...state.unsent, end], written };
    }),
    states.filter((state) => lastingOf(state) === undefined && pendingOf(state) === 0),
  );
}

function differs(state: KeptState, before: KeptState | null): boolean {
  return before === null || JSON.stringify(state) !== JSON.stringify(before);
}
