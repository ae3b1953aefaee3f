import {
  type NewNotificationRule,
  NOTIFIED_KINDS,
  type NotificationRule,
  type NotificationRuleDraft,
} from '@outrider/client';

export type EventKind = (typeof NOTIFIED_KINDS)[number];

/** Every alarm, as the API knows them. */
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

/** What of a rule its form changes. */
export interface RuleFields {
  name: string;
  active: boolean;
  /** Also kinds that the API does not know any more. */
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
  /** To all browsers of the user that take push messages. */
  push: boolean;
  messageTemplate: string | null;
  messageTemplates: Readonly<Partial<Record<MessageLanguage, string>>>;
  language: MessageLanguage | null;
  webhook: { url: string; secret?: string } | null;
  /** What is sent to the terminal of the vehicle; null: nothing. */
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

/** A command of a rule as its form begins with it. */
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

/** Could it stop a vehicle? Which output does, only the terminal's protocol says: each that is switched on. */
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

/** What the API is sent; of what the form left empty, the default. */
export function bodyOf(fields: Partial<RuleFields>): Partial<NewNotificationRule> {
  const { minIntervalMinutes, minDurationMinutes, licenceWarningDays, ...rest } = fields;
  return {
    ...rest,
    ...(minIntervalMinutes === undefined ? {} : { minIntervalMinutes: minIntervalMinutes ?? 0 }),
    ...(minDurationMinutes === undefined ? {} : { minDurationMinutes: minDurationMinutes ?? 0 }),
    ...(licenceWarningDays === undefined ? {} : { licenceWarningDays: licenceWarningDays ?? 0 }),
  } as Partial<NewNotificationRule>;
}

/** What of a rule says nothing of which events it selects. */
const NOT_TRIED: ReadonlySet<string> = new Set<keyof RuleFields>([
  ...(['name', 'active', 'emails', 'webhook', 'command', 'channelIds', 'messageTemplate'] as const),
  ...(['messageTemplates', 'language', 'push', 'severity', 'shared', 'escalateAfterMinutes', 'escalateTo'] as const),
]);

/** @param ruleId the rule that is edited; null: a new one */
export function trialOf(fields: RuleFields, ruleId: string | null): NotificationRuleDraft {
  const terms = Object.entries(bodyOf(fields)).filter(([name]) => !NOT_TRIED.has(name));
  return { ...Object.fromEntries(terms), ruleId } as NotificationRuleDraft;
}

/** Does the rule notify of driving licences? Then of nothing else, as no vehicle is part of it. */
export function isLicenceRule({ eventKinds }: Pick<RuleFields, 'eventKinds'>): boolean {
  return eventKinds.includes('licence-expiry');
}

/** What changes where a kind is chosen or taken out: a rule of licences has no other kind, and nothing of vehicles. */
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

/** Kinds of a stored rule that the API does not know any more. */
export function unknownKinds({ eventKinds }: Pick<RuleFields, 'eventKinds'>): string[] {
  return eventKinds.filter((kind) => !(NOTIFIED_KINDS as readonly string[]).includes(kind));
}

/** The list with a value added or taken out, in the order of `all`. */
export function toggled<T extends string>(list: readonly T[], all: readonly T[], value: T): T[] {
  const has = list.includes(value);
  return all.filter((one) => (one === value ? !has : list.includes(one)));
}

/** Does an interval of the day end on the next one? */
export function isOvernight({ from, to }: { from: string; to: string }): boolean {
  return from !== '' && to !== '' && to <= from;
}

/** Every date of the time range, those without any as well. */
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

/** A secret for a webhook, as Standard Webhooks writes them. */
export function newSecret(random: (bytes: Uint8Array<ArrayBuffer>) => Uint8Array): string {
  return `whsec_${btoa(String.fromCharCode(...random(new Uint8Array(32))))}`;
}
