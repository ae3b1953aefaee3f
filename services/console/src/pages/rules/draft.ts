import {
  type NewNotificationRule,
  NOTIFIED_KINDS,
  type NotificationRule,
  type NotificationRuleDraft,
} from '@outrider/client';

export type EventKind = (typeof NOTIFIED_KINDS)[number];

/** All alarms of the API. */
export const ALARMS = [
  'sos',
  'crash',
  'towing',
  'tamper',
  'jamming',
  'harsh-acceleration',
  'harsh-braking',
  'harsh-cornering',
  'overspeed',
  'low-battery',
  'terminal-conflict',
  'other',
] as const satisfies readonly NonNullable<NewNotificationRule['alarms']>[number][];

export const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;

/** Languages of messages. */
export type MessageLanguage = NonNullable<NotificationRule['language']>;

/** Fields of a rule that its form can change. */
export interface RuleFields {
  name: string;
  active: boolean;
  /** May contain kinds that the API no longer knows. */
  eventKinds: readonly string[];
  phases: readonly ('begin' | 'end')[];
  minDurationMinutes: number | null;
  alarms: readonly string[] | null;
  sensors: readonly string[] | null;
  vehicleIds: readonly string[] | null;
  groupIds: readonly string[] | null;
  geofenceIds: readonly string[] | null;
  insideGeofenceIds: readonly string[] | null;
  outsideGeofenceIds: readonly string[] | null;
  driver: 'known' | 'unknown' | null;
  driverIds: readonly string[] | null;
  driverGroupIds: readonly string[] | null;
  licenceWarningDays: number | null;
  days: NotificationRule['days'];
  hours: { from: string; to: string } | null;
  timeZone: string;
  minIntervalMinutes: number | null;
  maxDataAgeMinutes: number | null;
  emails: readonly string[];
  channelIds: readonly string[];
  /** Whether to notify all browsers in which the user has turned on push messages. */
  push: boolean;
  messageTemplate: string | null;
  messageTemplates: Readonly<Partial<Record<MessageLanguage, string>>>;
  language: MessageLanguage | null;
  webhook: { url: string; secret?: string } | null;
  /** Command to the terminal of the vehicle; null: none. */
  command: RuleCommand | null;
  severity: NotificationRule['severity'];
  shared: boolean;
  escalateAfterMinutes: number | null;
  escalateTo: readonly string[];
}

export interface RuleCommand {
  type: NonNullable<NewNotificationRule['command']>['type'];
  parameters: Record<string, string | number | boolean>;
  maxSpeedKmh: number | null;
  expiresInSeconds: number;
  /** It was confirmed that the vehicle may be stopped; the API does not keep it. */
  confirm?: boolean;
}

/** Initial state of the form for a rule's command. */
export function newCommand(type: RuleCommand['type']): RuleCommand {
  const parameters: RuleCommand['parameters'] =
    type === 'output-set'
      ? { output: 1, on: true }
      : type === 'interval-set'
        ? { seconds: 60 }
        : type === 'text'
          ? { text: '' }
          : {};
  return { type, parameters, maxSpeedKmh: null, expiresInSeconds: 600 };
}

/**
 * Whether the command could stop a vehicle. Only the terminal's protocol defines which output does, so every output
 * that is switched on counts.
 */
export function mayStopVehicle({ type, parameters }: RuleCommand): boolean {
  return type === 'engine-block' || (type === 'output-set' && parameters.on === true);
}

export function newRule(timeZone: string): RuleFields {
  return {
    name: '',
    active: true,
    eventKinds: ['geofence-visit'],
    phases: ['begin'],
    minDurationMinutes: 0,
    alarms: null,
    sensors: null,
    vehicleIds: null,
    groupIds: null,
    geofenceIds: null,
    insideGeofenceIds: null,
    outsideGeofenceIds: null,
    driver: null,
    driverIds: null,
    driverGroupIds: null,
    licenceWarningDays: 30,
    days: { on: 'daily' },
    hours: null,
    timeZone,
    minIntervalMinutes: 0,
    maxDataAgeMinutes: null,
    emails: [],
    channelIds: [],
    push: false,
    messageTemplate: null,
    messageTemplates: {},
    language: null,
    webhook: null,
    command: null,
    severity: 'info',
    shared: false,
    escalateAfterMinutes: null,
    escalateTo: [],
  };
}

export function fieldsOf(rule: NotificationRule): RuleFields {
  const { name, active, eventKinds, phases, alarms, vehicleIds, groupIds, geofenceIds } = rule;
  const { sensors, messageTemplate, channelIds, minDurationMinutes, insideGeofenceIds, outsideGeofenceIds } = rule;
  const { driver, driverIds, driverGroupIds, licenceWarningDays, messageTemplates, language, push } = rule;
  const { severity, shared, escalateAfterMinutes, escalateTo } = rule;
  const { days, hours, timeZone, minIntervalMinutes, maxDataAgeMinutes, emails, webhook, command } = rule;
  return {
    ...{ name, active, eventKinds, phases, alarms, vehicleIds, groupIds, geofenceIds },
    ...{ sensors, messageTemplate, channelIds, minDurationMinutes, insideGeofenceIds, outsideGeofenceIds },
    ...{ driver, driverIds, driverGroupIds, licenceWarningDays, messageTemplates, language, push },
    ...{ days, hours, timeZone, minIntervalMinutes, maxDataAgeMinutes, emails, webhook, command },
    ...{ severity, shared, escalateAfterMinutes, escalateTo },
  };
}

/** Body for the API, with the defaults of fields that were left empty. */
export function bodyOf(fields: Partial<RuleFields>): Partial<NewNotificationRule> {
  const { minIntervalMinutes, minDurationMinutes, licenceWarningDays, ...rest } = fields;
  return {
    ...rest,
    ...(minIntervalMinutes === undefined ? {} : { minIntervalMinutes: minIntervalMinutes ?? 0 }),
    ...(minDurationMinutes === undefined ? {} : { minDurationMinutes: minDurationMinutes ?? 0 }),
    ...(licenceWarningDays === undefined ? {} : { licenceWarningDays: licenceWarningDays ?? 0 }),
  } as Partial<NewNotificationRule>;
}

/** Fields of a rule that do not affect which events it selects. */
const NOT_TRIED: ReadonlySet<string> = new Set<keyof RuleFields>([
  ...(['name', 'active', 'emails', 'webhook', 'command', 'channelIds', 'messageTemplate'] as const),
  ...(['messageTemplates', 'language', 'push', 'severity', 'shared', 'escalateAfterMinutes', 'escalateTo'] as const),
]);

/** @param ruleId the rule that is edited; null: a new one */
export function trialOf(fields: RuleFields, ruleId: string | null): NotificationRuleDraft {
  const terms = Object.entries(bodyOf(fields)).filter(([name]) => !NOT_TRIED.has(name));
  return { ...Object.fromEntries(terms), ruleId } as NotificationRuleDraft;
}

/** Whether the rule is about driving licences. Such a rule has no other kinds, as its events belong to no vehicle. */
export function isLicenceRule({ eventKinds }: Pick<RuleFields, 'eventKinds'>): boolean {
  return eventKinds.includes('licence-expiry');
}

/** Changes after a kind is selected or deselected: a licence rule has no other kinds, and no conditions on vehicles. */
export function withKind({ eventKinds }: Pick<RuleFields, 'eventKinds'>, kind: string): Partial<RuleFields> {
  const all = [...NOTIFIED_KINDS, ...unknownKinds({ eventKinds })];
  const next = toggled<string>(eventKinds, all, kind);
  if (kind !== 'licence-expiry' || !isLicenceRule({ eventKinds: next }))
    return { eventKinds: next.filter((one) => one !== 'licence-expiry') };
  return {
    eventKinds: ['licence-expiry'],
    phases: ['begin'],
    ...{ minDurationMinutes: 0, minIntervalMinutes: 0, maxDataAgeMinutes: null, driver: null, command: null },
    ...{ vehicleIds: null, groupIds: null, geofenceIds: null, insideGeofenceIds: null, outsideGeofenceIds: null },
  };
}

/** Kinds of a stored rule that the API no longer knows. */
export function unknownKinds({ eventKinds }: Pick<RuleFields, 'eventKinds'>): string[] {
  return eventKinds.filter((kind) => !(NOTIFIED_KINDS as readonly string[]).includes(kind));
}

/** The list with a value added or removed, in the order of `all`. */
export function toggled<T extends string>(list: readonly T[], all: readonly T[], value: T): T[] {
  const has = list.includes(value);
  return all.filter((one) => (one === value ? !has : list.includes(one)));
}

/** Whether a time interval ends on the next day. */
export function isOvernight({ from, to }: { from: string; to: string }): boolean {
  return from !== '' && to !== '' && to <= from;
}

/** Counts for every date of the time range, including dates without events. */
export function everyDay(
  days: readonly { date: string; count: number }[],
  first: string,
  last: string,
): { date: string; count: number }[] {
  const counts = new Map(days.map(({ date, count }) => [date, count]));
  const all: { date: string; count: number }[] = [];
  for (let at = Date.parse(`${first}T12:00:00Z`); at <= Date.parse(`${last}T12:00:00Z`); at += 86_400_000) {
    const date = new Date(at).toISOString().slice(0, 10);
    all.push({ date, count: counts.get(date) ?? 0 });
  }
  return all;
}

/** Generates a webhook secret in the format of Standard Webhooks. */
export function newSecret(random: (bytes: Uint8Array<ArrayBuffer>) => Uint8Array): string {
  return `whsec_${btoa(String.fromCharCode(...random(new Uint8Array(32))))}`;
}
