import { type CounterSums, type CustomCounter, counterNameKey, sumOf } from './counters.ts';
import type { MaintenanceDue } from './events/index.ts';
import type { Brand, GroupId, MaintenancePlanId, ServiceRecordId, UserId, VehicleId } from './ids.ts';
import type { User } from './resources/user.ts';

/** Interval between services, or the warning distance before one. Of the fields set, the one due first counts. */
export interface MaintenanceSpan {
  distanceM: number | null;
  engineMs: number | null;
  days: number | null;
  /** For a custom counter, in its unit. */
  counter: number | null;
}

/** Recurring maintenance of one vehicle or of the vehicles of a group. */
export interface MaintenancePlan {
  id: MaintenancePlanId;
  version: number;
  /** The dealer whose vehicles the plan is for; null: the operator. */
  dealerId: UserId | null;
  name: string;
  description: string | null;
  /** Exactly one of the two is set. */
  vehicleId: VehicleId | null;
  groupId: GroupId | null;
  /** Name of the custom counter that the plan uses, looked up in each vehicle; null: none. */
  counterName: string | null;
  every: MaintenanceSpan;
  /** How far ahead of the service the warning begins; null: no warning by that measure. */
  warning: MaintenanceSpan;
  /** Start of counting where no service was recorded. */
  startsAtMs: number;
  createdAtMs: number;
  /** When the plan's spans or its start were last set. */
  changedAtMs: number;
}

export interface ServiceRecord {
  id: ServiceRecordId;
  vehicleId: VehicleId;
  /** Null: not part of a plan, or the plan was deleted. */
  planId: MaintenancePlanId | null;
  /** What was done; by default the plan's name. */
  title: string;
  atMs: number;
  /** Manual counter readings at the time of the service; null: the counted values apply. */
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

/** Allowed media types: browsers display them and run no code in them. */
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

/** State of a plan for one vehicle. */
export interface MaintenanceState {
  planId: MaintenancePlanId;
  vehicleId: VehicleId;
  stage: MaintenanceStage;
  /** The measure that comes first, or came first. */
  cause: MaintenanceCause;
  /** What is left; negative: overdue by that much. Null: the plan does not use this measure. */
  left: MaintenanceSpan;
  /** Unit of the custom counter; null: the plan uses none of this vehicle. */
  counterUnit: string | null;
  /** Remaining share of the interval, for the measure that comes first. */
  share: number;
  /** Unix milliseconds from which the plan is counted: its last service, or its start. */
  sinceMs: number;
  /** Due time by the calendar; null: the plan does not use days. */
  dueAtMs: number | null;
}

const DAY_MS = 86_400_000;
const CAUSES: readonly [MaintenanceCause, keyof MaintenanceSpan][] = [
  ['distance', 'distanceM'],
  ['engine-hours', 'engineMs'],
  ['days', 'days'],
  ['counter', 'counter'],
];

/** Start of counting for a plan, and what was counted since. */
export interface SinceService {
  sinceMs: number;
  /** Counted since. */
  sums: CounterSums;
  /** The custom counter that the plan uses. */
  counter: Pick<CustomCounter, 'id' | 'unit'> | null;
}

/** A plan as it applies to one vehicle, with that vehicle's custom counter. */
export interface VehiclePlan<Plan> {
  plan: Plan;
  counter: CustomCounter | null;
}

/**
 * Applies a plan to a vehicle with these custom counters. Where none of them has the name that the plan uses, only its
 * other spans apply.
 *
 * @returns null where no span is left
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

/** State of a plan by what was counted since the last service. */
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

/** Channel of the hub: people changed counters or maintenance data. */
export const MAINTENANCE_CHANNEL = 'maintenance';

/** Channel of the hub: displayed counter values of vehicles changed. */
export const COUNTERS_CHANNEL = 'vehicle-counters';

/** Message of {@link COUNTERS_CHANNEL}. Subscribers read the new values from the registry. */
export interface CountersNews {
  vehicleIds: readonly VehicleId[];
}

/** Whether the caller may correct counters, plan maintenance and record services for vehicles that it may see. */
export function mayMaintain({ blocked, role, services }: Pick<User, 'blocked' | 'role' | 'services'>): boolean {
  return !blocked && (role !== 'user' || services.includes('maintenance'));
}

/** Detects a file's media type by its first bytes; null: a type that is not accepted. */
export function serviceFileTypeOf(bytes: Uint8Array): ServiceFile['mediaType'] | null {
  const text = (from: number, to: number) => String.fromCharCode(...bytes.subarray(from, to));
  if (text(0, 5) === '%PDF-') return 'application/pdf';
  if (text(0, 8) === '\x89PNG\r\n\x1a\n') return 'image/png';
  if (text(0, 3) === '\xff\xd8\xff') return 'image/jpeg';
  if (text(0, 4) === 'RIFF' && text(8, 12) === 'WEBP') return 'image/webp';
  return null;
}
