import { type Access, badParameter, notFound } from '@outrider/access';
import { type GroupId, isoTime, type Vehicle, type VehicleGroup } from '@outrider/domain';
import type { Question } from '@outrider/reports';
import { z } from 'zod';
import { timeIn } from '../fields/fields.ts';
import { MAX_DAYS } from '../routes/reports/reports.ts';
import { traccarId } from './ids.ts';

const DAY_MS = 86_400_000;
const MAX_NAMED = 1000;

/** Numbers in a query parameter, which may be repeated. */
export const numbers = z
  .array(
    z
      .string()
      .regex(/^\d{1,16}$/, 'It must be a whole number.')
      .transform(Number),
  )
  .max(MAX_NAMED)
  .optional();
const number = z
  .string()
  .regex(/^\d{1,16}$/, 'It must be a whole number.')
  .transform(Number)
  .optional();
const flag = z.enum(['true', 'false']).optional();

/**
 * Query parameters of Traccar's lists. Those that would show more than the caller's own have no effect: rights decide
 * that.
 */
export const listed = { all: flag, userId: number, refresh: flag, deviceId: number, groupId: number };
export const reported = { deviceId: numbers, groupId: numbers };
export const range = { from: timeIn, to: timeIn };
export const dailyFlag = flag;

/** Groups that a caller may see, with a lookup of a vehicle's groups among them. */
export class SeenGroups {
  readonly all: readonly VehicleGroup[];
  readonly #ids: ReadonlySet<GroupId>;

  constructor(access: Access) {
    this.all = access.groups.find({ text: '', field: null, descending: false, limit: Infinity, after: null }).items;
    this.#ids = new Set(this.all.map(({ id }) => id));
  }

  of(vehicle: Pick<Vehicle, 'groupIds'>): GroupId[] {
    return vehicle.groupIds.filter((id) => this.#ids.has(id));
  }
}

/**
 * Vehicles that a call names by vehicle or group numbers; if it names none, all that the caller may see.
 *
 * @param all vehicles that may be named
 * @throws {Problem} when the caller sees no such vehicle or group
 */
export function vehiclesOf(
  access: Access,
  { deviceId, groupId }: { deviceId?: readonly number[] | undefined; groupId?: readonly number[] | undefined },
  all: Vehicle[] = access.reports.vehicles(null),
): Vehicle[] {
  if (deviceId === undefined && groupId === undefined) return all;
  const groups = new SeenGroups(access);
  const wanted = new Set(groupId);
  const named = new Set(deviceId);
  const found = all.filter(
    (vehicle) => named.has(traccarId(vehicle.id)) || groups.of(vehicle).some((id) => wanted.has(traccarId(id))),
  );
  const ids = new Set(found.map(({ id }) => traccarId(id)));
  if ([...named].some((id) => !ids.has(id))) throw notFound();
  const groupIds = new Set(groups.all.map(({ id }) => traccarId(id)));
  if ([...wanted].some((id) => !groupIds.has(id))) throw notFound();
  return found;
}

/** @throws {Problem} where the range is not valid, or it names what the caller does not see */
export function questionOf(
  access: Access,
  asked: Parameters<typeof vehiclesOf>[1] & { from: number; to: number },
  nowMs: number,
  signal: AbortSignal,
): Question {
  const { from, to } = asked;
  if (to <= from) throw badParameter('to', 'It must be later than from.');
  if (to - from > MAX_DAYS * DAY_MS) throw badParameter('to', `It must be at most ${MAX_DAYS} days after from.`);
  return {
    vehicles: vehiclesOf(access, asked),
    fromMs: from,
    toMs: to,
    timeZone: 'UTC',
    period: 'whole',
    eventKinds: null,
    geofenceId: null,
    maxPoints: null,
    workHours: null,
    ecoWeights: null,
    sensors: null,
    driverIds: null,
    nowMs,
    signal,
  };
}

/** The part of a range that falls on a day such as `2026-01-31`. */
export function dayOf(day: unknown, { fromMs, toMs }: Question): { from: string; to: string } {
  const startMs = Date.parse(`${String(day)}T00:00:00Z`);
  return { from: isoTime(Math.max(fromMs, startMs)), to: isoTime(Math.min(toMs, startMs + DAY_MS)) };
}
