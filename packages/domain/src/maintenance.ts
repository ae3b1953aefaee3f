import { type CounterSums, type CustomCounter, counterNameKey, sumOf } from './counters.ts';
import type { MaintenanceDue } from './events/index.ts';
import type { Brand, GroupId, MaintenancePlanId, ServiceRecordId, UserId, VehicleId } from './ids.ts';
import type { User } from './resources/user.ts';

/** How far it is from one service to the next, or a warning ahead of it: of each that is set, whichever comes first. */
export interface MaintenanceSpan {
  distanceM: number | null;
  engineMs: number | null;
  days: number | null;
  /** Of a custom counter, in its unit. */
  counter: number | null;
}

/** What is to be done again and again, for one vehicle or for those of a group. */
export interface MaintenancePlan {
  id: MaintenancePlanId;
  version: number;
  /** The dealer whose vehicles it is for; null: the operator's own. */
  dealerId: UserId | null;
  name: string;
  description: string | null;
  /** Either of the two is set. */
  vehicleId: VehicleId | null;
  groupId: GroupId | null;
  /** The custom counter that it goes by, of each vehicle the one of this name; null: it goes by none. */
  counterName: string | null;
  every: MaintenanceSpan;
  /** So much ahead of it, it is near; null: no warning by that. */
  warning: MaintenanceSpan;
  /** From then on it counts where no service was recorded. */
  startsAtMs: number;
  createdAtMs: number;
  /** When its spans were said, or its start. */
  changedAtMs: number;
}

/** A service that was done. */
export interface ServiceRecord {
  id: ServiceRecordId;
  vehicleId: VehicleId;
  /** Null: of no plan, or of one that was deleted. */
  planId: MaintenancePlanId | null;
  /** What was done: the plan's name where nothing else was said. */
  title: string;
  atMs: number;
  /** As the counters were read then; null: as they were counted. */
  odometerM: number | null;
  engineMs: number | null;
  /** In the currency's smallest unit. */
  cost: { amountMinor: number; currency: string } | null;
  note: string | null;
  createdBy: UserId | null;
  createdAtMs: number;
  files: readonly ServiceFile[];
}

/** UUID of a file of a service record. */
export type ServiceFileId = Brand<string, 'ServiceFileId'>;

/** What a file may hold: browsers show these and run nothing of them. */
export const SERVICE_FILE_TYPES = ['application/pdf', 'image/jpeg', 'image/png', 'image/webp'] as const;

/** A file of a service record: an invoice, a photo. */
export interface ServiceFile {
  id: ServiceFileId;
  name: string;
  mediaType: (typeof SERVICE_FILE_TYPES)[number];
  bytes: number;
}

export const MAINTENANCE_STAGES = ['ok', 'warning', 'due'] as const;
export type MaintenanceStage = (typeof MAINTENANCE_STAGES)[number];
export type MaintenanceCause = MaintenanceDue['cause'];

/** How a plan stands for a vehicle. */
export interface MaintenanceState {
  planId: MaintenancePlanId;
  vehicleId: VehicleId;
  stage: MaintenanceStage;
  /** What comes, or came, first. */
  cause: MaintenanceCause;
  /** What is left; negative: so much over it. Null: the plan does not go by it. */
  left: MaintenanceSpan;
  /** What the custom counter counts in; null: the plan goes by none of the vehicle. */
  counterUnit: string | null;
  /** What is left, as a share of the whole, of what comes first. */
  share: number;
  /** Unix milliseconds from which it is counted: of the last service, or of the plan. */
  sinceMs: number;
  /** When it is due by the calendar; null: the plan does not go by days. */
  dueAtMs: number | null;
}

const DAY_MS = 86_400_000;
const CAUSES: readonly [MaintenanceCause, keyof MaintenanceSpan][] = [
  ['distance', 'distanceM'],
  ['engine-hours', 'engineMs'],
  ['days', 'days'],
  ['counter', 'counter'],
];

/** Where a plan is counted from, and how far that is. */
export interface SinceService {
  sinceMs: number;
  /** Counted since. */
  sums: CounterSums;
  /** The custom counter that the plan goes by. */
  counter: Pick<CustomCounter, 'id' | 'unit'> | null;
}

/** A plan as it goes for one vehicle, and the custom counter that it goes by there. */
export interface VehiclePlan<Plan> {
  plan: Plan;
  counter: CustomCounter | null;
}

/**
 * A plan as it goes for a vehicle with these custom counters: where none has the name that it goes by, by the rest of
 * its spans.
 *
 * @returns null where nothing is left to go by
 */
export function planForVehicle<Plan extends Pick<MaintenancePlan, 'counterName' | 'every' | 'warning'>>(
  plan: Plan,
  counters: readonly CustomCounter[],
): VehiclePlan<Plan> | null {
  const { counterName, every, warning } = plan;
  if (counterName === null) return { plan, counter: null };
  const counter = counters.find(({ name }) => counterNameKey(name) === counterNameKey(counterName));
  if (counter !== undefined) return { plan, counter };
  if (every.distanceM === null && every.engineMs === null && every.days === null) return null;
  return {
    plan: { ...plan, every: { ...every, counter: null }, warning: { ...warning, counter: null } },
    counter: null,
  };
}

/** What is left of a plan, by what was counted since the last service. */
export function maintenanceStateOf(
  plan: Pick<MaintenancePlan, 'id' | 'every' | 'warning'>,
  vehicleId: VehicleId,
  { sinceMs, sums, counter }: SinceService,
  nowMs: number,
): MaintenanceState {
  const used: MaintenanceSpan = {
    distanceM: sums.odometerM,
    engineMs: sums.engineMs,
    days: (nowMs - sinceMs) / DAY_MS,
    counter: counter && sumOf(counter.id, sums),
  };
  const left: MaintenanceSpan = { distanceM: null, engineMs: null, days: null, counter: null };
  let stage: MaintenanceStage = 'ok';
  let first: { cause: MaintenanceCause; share: number } | null = null;
  for (const [cause, name] of CAUSES) {
    const every = plan.every[name];
    if (every === null) continue;
    const rest = every - (used[name] ?? 0);
    left[name] = rest;
    const warning = plan.warning[name];
    if (rest <= 0) stage = 'due';
    else if (warning !== null && rest <= warning && stage === 'ok') stage = 'warning';
    if (first === null || rest / every < first.share) first = { cause, share: rest / every };
  }
  return {
    planId: plan.id,
    vehicleId,
    stage,
    cause: first?.cause ?? 'days',
    left,
    counterUnit: counter?.unit ?? null,
    share: first?.share ?? 1,
    sinceMs,
    dueAtMs: plan.every.days === null ? null : sinceMs + plan.every.days * DAY_MS,
  };
}

/** Channel of the hub: something of counters or maintenance was changed by people. */
export const MAINTENANCE_CHANNEL = 'maintenance';

/** Channel of the hub: counters of vehicles show something else than before. */
export const COUNTERS_CHANNEL = 'vehicle-counters';

/** A message of {@link COUNTERS_CHANNEL}; who shows them reads them from the registry. */
export interface CountersNews {
  vehicleIds: readonly VehicleId[];
}

/** May the caller correct counters, plan maintenance and record services, of what the caller may see? */
export function mayMaintain({ blocked, role, services }: Pick<User, 'blocked' | 'role' | 'services'>): boolean {
  return !blocked && (role !== 'user' || services.includes('maintenance'));
}

/** What a file holds, by its first bytes; null: something that a service record does not take. */
export function serviceFileTypeOf(bytes: Uint8Array): ServiceFile['mediaType'] | null {
  const text = (from: number, to: number) => String.fromCharCode(...bytes.subarray(from, to));
  if (text(0, 5) === '%PDF-') return 'application/pdf';
  if (text(0, 8) === '\x89PNG\r\n\x1a\n') return 'image/png';
  if (text(0, 3) === '\xff\xd8\xff') return 'image/jpeg';
  if (text(0, 4) === 'RIFF' && text(8, 12) === 'WEBP') return 'image/webp';
  return null;
}
