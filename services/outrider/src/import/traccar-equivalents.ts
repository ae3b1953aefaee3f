import type { Alarm, EventKind } from '@outrider/domain';
import {
  ALARMS,
  KMH_PER_KNOT,
  type SourceComputed,
  type SourceMaintenance,
  type SourceNotification,
} from './traccar-source.ts';

/** The equivalent of a Traccar object, or the reason why none exists. */
export type Equivalent<T> = { is: T } | { isNone: string };

export interface RuleTerms {
  /** Name of the rule, unique by its terms: notifications with the same name and links become one rule. */
  name: string;
  eventKinds: EventKind[];
  phases: ('begin' | 'end')[];
  alarms: Exclude<Alarm, 'power-cut'>[] | null;
}

const EVENTS: Readonly<Record<string, readonly [EventKind, 'begin' | 'end']>> = {
  deviceOverspeed: ['speeding', 'begin'],
  geofenceEnter: ['geofence-visit', 'begin'],
  geofenceExit: ['geofence-visit', 'end'],
  alarm: ['alarm', 'begin'],
  ignitionOn: ['ignition', 'begin'],
  ignitionOff: ['ignition', 'end'],
  maintenance: ['maintenance-due', 'begin'],
  deviceOffline: ['offline', 'begin'],
  deviceOnline: ['offline', 'end'],
  deviceMoving: ['trip', 'begin'],
  deviceStopped: ['trip', 'end'],
  driverChanged: ['driver-shift', 'begin'],
  deviceFuelIncrease: ['refuelling', 'begin'],
  deviceFuelDrop: ['fuel-drain', 'begin'],
};

/** The rule that sends equivalent notifications. */
export function ruleOf({ type, calendarId, attributes = {} }: SourceNotification): Equivalent<RuleTerms> {
  const known = EVENTS[type];
  if (known === undefined) return { isNone: `there is no event like ${type} here` };
  if (calendarId) return { isNone: 'it goes by a calendar: make a rule with days and hours' };
  const [kind, phase] = known;
  const rule = { name: `Traccar: ${type}`, eventKinds: [kind], phases: [phase], alarms: null };
  if (kind !== 'alarm') return { is: rule };
  const listed = typeof attributes.alarms === 'string' ? attributes.alarms.split(',').map((name) => name.trim()) : [];
  const alarms = new Set(listed.filter((name) => name !== '').map((name): Alarm => ALARMS[name] ?? 'other'));
  // Here a power cut is a separate event.
  if (alarms.size === 0) return { is: { ...rule, eventKinds: ['alarm', 'power-cut'] } };
  const name = `${rule.name} ${[...alarms].sort().join(', ')}`;
  const eventKinds: EventKind[] = alarms.delete('power-cut') ? ['power-cut'] : [];
  if (alarms.size === 0) return { is: { ...rule, name, eventKinds } };
  return { is: { ...rule, name, eventKinds: ['alarm', ...eventKinds], alarms: [...alarms] as RuleTerms['alarms'] } };
}

export interface PlanTerms {
  every: { distanceKm?: number; engineHours?: number; days?: number };
  /** Start of the count in Unix milliseconds; null: from now on. */
  startsAtMs: number | null;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const DISTANCES: ReadonlySet<string> = new Set(['totalDistance', 'odometer', 'serviceOdometer']);
const TIMES: ReadonlySet<string> = new Set(['fixTime', 'deviceTime', 'serverTime']);

/** The maintenance plan with the same interval. */
export function planOf({ type, start, period }: SourceMaintenance, nowMs: number): Equivalent<PlanTerms> {
  if (!(period > 0)) return { isNone: 'it is due once: plans repeat' };
  if (DISTANCES.has(type)) return { is: { every: { distanceKm: period / 1000 }, startsAtMs: null } };
  if (type === 'hours') return { is: { every: { engineHours: period / HOUR_MS }, startsAtMs: null } };
  if (!TIMES.has(type)) return { isNone: `it goes by ${type}: make a custom counter, and a plan that goes by that` };
  const days = Math.round(period / DAY_MS);
  if (days < 1) return { isNone: 'it is due more than once a day' };
  // The last time that maintenance was due, or one period before the first.
  const periods = Math.max(-1, Math.floor((nowMs - start) / period));
  return { is: { every: { days }, startsAtMs: Math.max(0, start + periods * period) } };
}

export interface SensorTerms {
  name: string;
  kind: 'digital' | 'custom';
  source: string;
}

const MAX_NAME = 64;
/** Fields of a position: their names in Traccar's expressions, and here. */
const FIELDS: Readonly<Record<string, string>> = {
  speed: '(speedKmh / 1.852)',
  course: 'courseDeg',
  altitude: 'altitudeM',
  valid: 'valid',
  sat: 'satellites',
  ignition: 'ignition',
  odometer: 'odometerM',
  power: 'supplyV',
  fuel: 'fuelL',
  true: 'true',
  false: 'false',
};
const TOKEN = /\s+|\d+(?:\.\d+)?|[A-Za-z_$][\w$]*|&&|\|\||[=!<>]=|[-+*/%()<>!?:]/y;

/**
 * The sensor with the same value. Only expressions over fields of a position can be converted, because attributes of
 * terminals have other names here.
 */
export function sensorOf({ description, attribute, expression, type }: SourceComputed): Equivalent<SensorTerms> {
  if (type !== 'number' && type !== 'boolean') return { isNone: 'its value is a text: sensors are numbers and states' };
  // `power ? power > 13.2 : null`: the guard is superfluous, because a record without the field has no value here.
  const [, guard = '', guarded = ''] = /^\s*(\w+)\s*\?(.+):\s*null\s*$/.exec(expression) ?? [];
  const text = guard !== '' && new RegExp(`\\b${guard}\\b`).test(guarded) ? guarded : expression;
  let source = '';
  for (TOKEN.lastIndex = 0; TOKEN.lastIndex < text.length; ) {
    const at = TOKEN.lastIndex;
    const [token] = TOKEN.exec(text) ?? [];
    if (token === undefined)
      return { isNone: `its expression has no equivalent from ${JSON.stringify(text.slice(at, at + 20))} on` };
    if (/^[A-Za-z_$]/.test(token)) {
      const field = Object.hasOwn(FIELDS, token) ? FIELDS[token] : undefined;
      if (field === undefined) return { isNone: `its expression names ${token}, which is no field of a record here` };
      source += field;
    } else source += token.trim() === '' ? ' ' : token;
  }
  const name = (description || attribute).slice(0, MAX_NAME);
  return { is: { name, kind: type === 'boolean' ? 'digital' : 'custom', source: source.trim() } };
}

/** Converts Traccar's attribute, which is in knots. */
export function speedLimit({ speedLimit: knots }: Record<string, unknown>): { speedLimitKmh?: number } {
  return typeof knots === 'number' && knots > 0 ? { speedLimitKmh: Math.round(knots * KMH_PER_KNOT) } : {};
}
