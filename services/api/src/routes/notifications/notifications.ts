import type { ListedDelivery, ListedRule, RuleShown, RuleTrial, RuleWish } from '@outrider/access';
import { badField, badParameter } from '@outrider/access';
import {
  checkWebhookSecret,
  DELIVERY_CHANNELS,
  faultText,
  MESSAGE_PLACEHOLDERS,
  notificationText,
  templateFault,
} from '@outrider/channels';
import {
  ALARMS,
  COMMAND_TYPES,
  DEFAULT_LICENCE_WARNING_DAYS,
  DESCRIBED_KINDS,
  type DeliveryId,
  DRIVER_CONDITIONS,
  type DriverId,
  END_REASONS,
  EVENT_KINDS,
  eventJson,
  type GeofenceId,
  type GroupId,
  hiddenUrl,
  INACTIVE_REASONS,
  isoTime,
  LICENCE_EXPIRY,
  MAX_ESCALATE_AFTER_MINUTES,
  MAX_LICENCE_WARNING_DAYS,
  MAX_MIN_DURATION_MINUTES,
  MISMATCHES,
  NOTIFIED_KINDS,
  type NotificationId,
  type NotificationRule,
  type NotificationRuleId,
  notificationJson,
  orderOfRule,
  type RuleCommand,
  type RuleDays,
  ruleCommandOf,
  SEVERITIES,
  type UserId,
  type VehicleId,
  WEEKDAYS,
} from '@outrider/domain';
import { type ChannelTest, DELIVERY_STATES } from '@outrider/registry';
import { LANGUAGES, type Language } from '@outrider/words';
import { z } from 'zod';
import {
  MAX_COMMAND_EXPIRY_SECONDS,
  MIN_COMMAND_EXPIRY_SECONDS,
  orderIn,
  speedBound,
} from '../../fields/command-fields.ts';
import { eventFields } from '../../fields/event-fields.ts';
import {
  EmailStatesOut,
  id,
  idOut,
  line,
  listOf,
  pageAsked,
  pageReply,
  paging,
  readCursor,
  recipients,
  timeOut,
  utcRangeEndSuchAs,
  wholeParameter,
  writeCursor,
} from '../../fields/fields.ts';
import { PAGE, pageOf } from '../../http/whole-list.ts';
import { ResourceRoutes } from '../../resource-routes.ts';
import { callsOf, type Route } from '../../route.ts';
import { AlarmOut } from '../fleet/vehicles.ts';

const { get, post } = callsOf('Notifications');

const name = line(200);
const active = z.boolean().meta({ description: 'A rule that is not active notifies nobody.' });
const eventKinds = z
  .array(z.enum(NOTIFIED_KINDS))
  .min(1)
  .max(50)
  .transform((kinds) => [...new Set(kinds)])
  .meta({
    description: `Kinds of event. ${EVENT_KINDS.map((kind) => `\`${kind}\`: ${DESCRIBED_KINDS[kind].meaning}`).join(' ')} \`${LICENCE_EXPIRY}\`: the driving licence of a driver expires, see \`licenceWarningDays\`. A rule of this kind has no other kinds and no conditions on vehicles, because no vehicle is involved.`,
  });
const phases = z
  .array(z.enum(['begin', 'end']))
  .min(1)
  .transform((list) => [...new Set(list)])
  .meta({ description: 'Phases to notify of: the start of an event (`begin`), its end (`end`), or both.' });
const minDurationMinutes = z.number().min(0).max(MAX_MIN_DURATION_MINUTES).meta({
  description:
    'Only events that last at least this many minutes. The `begin` is notified once the event has lasted that long, and not when it begins; `days` and `hours` apply to that time. The `end` is notified only if the event lasted that long. The duration is measured by the times of the data; if the vehicle sends nothing, the service waits for 2 more minutes. 0: all events, at once.',
});
/** Alarms that cause events of kind `alarm`; a power cut has its own kind. */
const EVENT_ALARMS = ALARMS.filter((alarm) => alarm !== 'power-cut');
const alarms = z
  .array(z.enum(EVENT_ALARMS))
  .min(1)
  .transform((list) => [...new Set(list)])
  .nullable()
  .meta({
    description:
      'For events of kind `alarm`: only these alarms. Null for all. Harsh driving counts as an alarm if `eventKinds` contains `alarm` but not `harsh-driving`.',
  });
const sensors = z
  .array(line(200))
  .min(1)
  .max(50)
  .transform((list) => [...new Set(list)])
  .nullable()
  .meta({
    description:
      'For events of kind `sensor-threshold`: only these sensors, each by its id or by its name, case-insensitive (see `GET /api/v1/sensors`). Null for all.',
  });

function ids<Id extends string>(description: string) {
  return z.array(id<Id>()).min(1).max(1000).nullable().meta({ description });
}
const vehicleIds = ids<VehicleId>(
  'Only events of these vehicles and of those in `groupIds`. If both are null, of all vehicles that the owner may see, including those added later.',
);
const groupIds = ids<GroupId>('Only events of the vehicles in these groups and of those in `vehicleIds`.');
const geofenceIds = ids<GeofenceId>(
  'Only events about one of these geozones. Null for all events; of those about a geozone, only if the geozone belongs to the owner or is shared with the owner.',
);
const insideGeofenceIds = ids<GeofenceId>(
  'Only events inside one of these geozones, by the place of this phase of the event. Null for any place.',
);
const outsideGeofenceIds = ids<GeofenceId>(
  'Only events outside all of these geozones, such as the ignition being switched on outside the depot. Null for any place.',
);

const driver = z.enum(DRIVER_CONDITIONS).nullable().meta({
  description:
    'Only events with a known driver, or only those with an unknown one. The driver is the one assigned to the vehicle, otherwise the one identified by the code that the terminal sent. A driver that the owner may not see counts as unknown. Null for both.',
});
const driverIds = ids<DriverId>(
  'Only events of these drivers and of those in `driverGroupIds`. If both are null, of any driver.',
);
const driverGroupIds = ids<GroupId>('Only events of the drivers in these groups and of those in `driverIds`.');

const licenceWarningDays = z.int().min(0).max(MAX_LICENCE_WARNING_DAYS).meta({
  description:
    'For kind `licence-expiry`: the owner is notified this many days before the last day of the licence, and again on the day after it. 0: only on the day after it. Each is notified once per driver and date, by the days of `timeZone`; outside `days` and `hours`, as soon as these begin. Applies to the drivers in `driverIds` and `driverGroupIds`; if both are null, to all that the owner may see.',
});

const date = z.iso.date({ error: 'It must be a date such as 2026-01-31.' });
const weekday = z.enum(WEEKDAYS);
const dates = z
  .strictObject({ on: z.literal('dates'), from: date, to: date })
  .refine(({ from, to }) => from <= to, { path: ['to'], error: 'It must not be before from.' });
const days = z
  .discriminatedUnion('on', [
    z.strictObject({ on: z.literal('daily') }),
    z.strictObject({
      on: z.literal('weekdays'),
      weekdays: z
        .array(weekday)
        .min(1)
        .transform((list) => WEEKDAYS.filter((each) => list.includes(each))),
    }),
    dates,
  ])
  .meta({
    description:
      'Days on which the rule applies, in the `timeZone`: daily, on some weekdays, or from one date to another (both inclusive).',
  });
const clock = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'It must be a time of day such as 08:30.');
const hours = z
  .strictObject({ from: clock, to: clock })
  .refine(({ from, to }) => from !== to, {
    path: ['to'],
    error: 'It must differ from `from`. Use null for the whole day.',
  })
  .nullable()
  .meta({
    description:
      'Time of day during which the rule applies, in the `timeZone`; `to` is exclusive. Null for the whole day. If `to` is before `from`, it is on the next day, and such a night belongs to the day on which it begins.',
  });
const timeZone = z
  .string()
  .refine(isTimeZone, 'It must be the IANA name of a time zone, such as Europe/Berlin.')
  .meta({ description: 'IANA name, such as `Europe/Berlin`.', examples: ['Europe/Berlin'] });
const minIntervalMinutes = z
  .number()
  .min(0)
  .max(7 * 24 * 60)
  .meta({ description: 'At most one notification per vehicle within this many minutes. 0: no limit.' });
const maxDataAgeMinutes = z.number().min(1).max(525_600).nullable().meta({
  description:
    'Maximum age of the data at its arrival, in minutes. Events in older data, such as that of a black box that is read hours later, are not notified. Null for any age, except that 60 minutes apply to data that arrived after newer data of its vehicle.',
});
const emails = recipients(
  'Each address gets an e-mail of its own, once its holder has confirmed the address: see `emailStates`.',
);
type TemplateShape = Record<Language, z.ZodOptional<typeof messageTemplateText>>;
const messageTemplateText = z
  .string()
  .min(1)
  .max(1000)
  .superRefine((text, context) => {
    const wrong = templateFault(text, MESSAGE_PLACEHOLDERS);
    if (wrong !== null) context.addIssue({ code: 'custom', message: faultText(wrong, MESSAGE_PLACEHOLDERS) });
  });
const messageTemplate = messageTemplateText.nullable().meta({
  description: `Text of e-mails, chats and calls. Placeholders: ${MESSAGE_PLACEHOLDERS.map((each) => `\`{${each}}\``).join(', ')}. Null for the default text of the service.`,
});
const messageTemplates = z
  .strictObject(Object.fromEntries(LANGUAGES.map((each) => [each, messageTemplateText.optional()])) as TemplateShape)
  .transform((byLanguage) =>
    Object.fromEntries(Object.entries(byLanguage).filter((each): each is [string, string] => each[1] !== undefined)),
  )
  .meta({
    description:
      'Texts by language. A message in one of these languages uses its text; a message in another language uses `messageTemplate`.',
    examples: [{ de: '{vehicle} parkt: {place}' }],
  });
const messageLanguage = z
  .enum(LANGUAGES as [Language, ...Language[]])
  .nullable()
  .meta({
    description:
      'Language of e-mails, chats and calls. Null for the language of the owner (`/api/v1/me/preferences`). Time zone and units are always those of the owner.',
  });
const channelIds = z
  .array(id())
  .max(20)
  .transform((list) => [...new Set(list)])
  .meta({ description: 'Message channels of the owner (`/api/v1/me/message-channels`) that each get a message.' });
const severity = z.enum(SEVERITIES).meta({
  description:
    'Importance of the notifications. Above `info`, the rule opens an incident for each event (`/api/v1/incidents`), which stays until somebody closes it.',
});
const shared = z.boolean().meta({
  description:
    'Whether all accounts of the owner’s organisation can handle the incidents of the rule, as far as they may see the vehicle and the geozone.',
});
const escalateAfterMinutes = z.number().min(1).max(MAX_ESCALATE_AFTER_MINUTES).nullable().meta({
  description: 'Minutes after which an incident that nobody has acknowledged is escalated. Null for never.',
});
const escalateTo = recipients(
  'Each address gets an e-mail when an incident is escalated, once its holder has confirmed the address. The message channels and browsers of the rule get another message.',
);
const push = z.boolean().meta({
  description: 'Whether to send a push message to each browser of the owner (`/api/v1/me/message-channels`).',
});
const secret = z
  .string()
  .superRefine((text, context) => {
    const wrong = checkWebhookSecret(text);
    if (wrong !== null) context.addIssue({ code: 'custom', message: wrong });
  })
  .meta({
    description:
      'Secret that signs the messages: `whsec_` followed by 24 to 64 bytes in base64. Generated by the service if it is left out.',
  });
const webhookIn = z
  .strictObject({
    url: z.string().max(2048).meta({
      description: 'The complete URL. If the hidden form is given, in which answers show it, the rule keeps its URL.',
    }),
    secret: secret.optional(),
  })
  .nullable()
  .meta({
    description: 'Gets a POST for each notification, as specified by Standard Webhooks (standardwebhooks.com).',
  });

const DEFAULT_COMMAND_SECONDS = 600;
const commandIn = orderIn({
  confirm: z.boolean().default(false).meta({ description: 'Must be true for `engine-block`. It is not stored.' }),
  maxSpeedKmh: speedBound.nullable().default(null).meta({
    description:
      'Speed in km/h above which a command that can stop the vehicle is refused. Null for `ENGINE_BLOCK_MAX_KMH`.',
  }),
  expiresInSeconds: z
    .int()
    .min(MIN_COMMAND_EXPIRY_SECONDS)
    .max(MAX_COMMAND_EXPIRY_SECONDS)
    .default(DEFAULT_COMMAND_SECONDS)
    .meta({ description: 'How long the command waits for the terminal, in seconds from the fix of the event.' }),
})
  .nullable()
  .meta({
    description:
      'Command that is sent to the terminal of the vehicle, once for each event, if the owner may send such a command at that time. None is sent for data that arrived late.',
  });
const COMMAND_OUT = z
  .strictObject({
    type: z.enum(COMMAND_TYPES),
    parameters: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
    maxSpeedKmh: z.number().nullable(),
    expiresInSeconds: z.int(),
  })
  .nullable();

const RULE_EXAMPLE = {
  name: 'Depot at night',
  eventKinds: ['geofence-visit'],
  phases: ['begin', 'end'],
  geofenceIds: ['01961f3c-be54-7a7c-9f5b-6d0e4a8c2b9b'],
  days: { on: 'weekdays', weekdays: ['monday', 'friday'] },
  hours: { from: '22:00', to: '06:00' },
  timeZone: 'Europe/Berlin',
  minIntervalMinutes: 10,
  maxDataAgeMinutes: 30,
  emails: ['dispatch@example.com'],
  webhook: { url: 'https://example.com/hooks/fleet' },
};

/** Webhook as rules show it. */
const SHOWN_WEBHOOK = { url: hiddenUrl(RULE_EXAMPLE.webhook.url) };
const shownUrl = z.string().meta({
  description:
    'Server of the URL. The rest may contain a key: it is replaced by `***` and a fingerprint, which changes with the URL.',
});

const RULE_OUT = z.strictObject({
  id: idOut,
  ownerId: idOut,
  name: z.string(),
  active: z.boolean(),
  inactiveReason: z.enum(INACTIVE_REASONS).nullable().meta({
    description:
      'Why the rule is inactive. Null while it is active. A rule becomes inactive if all objects that it named in a condition were deleted, so that it does not match everything instead.',
  }),
  /** May include kinds from an earlier version. */
  eventKinds: z.array(z.string()),
  phases: z.array(z.enum(['begin', 'end'])),
  minDurationMinutes: z.number(),
  alarms: z.array(AlarmOut).nullable(),
  sensors: z.array(z.string()).nullable(),
  vehicleIds: z.array(idOut).nullable(),
  groupIds: z.array(idOut).nullable(),
  geofenceIds: z.array(idOut).nullable(),
  insideGeofenceIds: z.array(idOut).nullable(),
  outsideGeofenceIds: z.array(idOut).nullable(),
  driver: z.enum(DRIVER_CONDITIONS).nullable(),
  driverIds: z.array(idOut).nullable(),
  driverGroupIds: z.array(idOut).nullable(),
  licenceWarningDays: z.int(),
  days: z.discriminatedUnion('on', [
    z.strictObject({ on: z.literal('daily') }),
    z.strictObject({ on: z.literal('weekdays'), weekdays: z.array(weekday) }),
    z.strictObject({ on: z.literal('dates'), from: z.string(), to: z.string() }),
  ]),
  hours: z.strictObject({ from: z.string(), to: z.string() }).nullable(),
  timeZone: z.string(),
  minIntervalMinutes: z.number(),
  maxDataAgeMinutes: z.number().nullable(),
  emails: z.array(z.string()),
  channelIds: z.array(idOut),
  messageTemplate: z.string().nullable(),
  messageTemplates: z.record(z.string(), z.string()),
  language: z.enum(LANGUAGES as [Language, ...Language[]]).nullable(),
  push: z.boolean(),
  severity: z.enum(SEVERITIES),
  shared: z.boolean(),
  escalateAfterMinutes: z.number().nullable(),
  escalateTo: z.array(z.string()),
  emailStates: EmailStatesOut,
  webhook: z.strictObject({ url: shownUrl }).nullable(),
  command: COMMAND_OUT,
  lastNotifiedAt: timeOut.nullable().meta({
    description: 'Time of the last notification. Null if there was none, or it is older than notifications are kept.',
  }),
  failedDeliveries: z
    .int()
    .meta({ description: 'Number of deliveries that failed in the last 7 days, counted up to 1000.' }),
});
const RULE_OUT_EXAMPLE = {
  id: '01961f3c-d1a0-7b3c-8e2f-5a9d4c7b1e60',
  ownerId: '01961f3c-9c32-7e5a-9d3f-4b8c2e6a0f79',
  ...RULE_EXAMPLE,
  webhook: SHOWN_WEBHOOK,
  active: true,
  inactiveReason: null,
  phases: ['begin' as const, 'end' as const],
  minDurationMinutes: 0,
  alarms: null,
  sensors: null,
  command: null,
  vehicleIds: null,
  groupIds: null,
  insideGeofenceIds: null,
  outsideGeofenceIds: null,
  driver: null,
  driverIds: null,
  driverGroupIds: null,
  licenceWarningDays: DEFAULT_LICENCE_WARNING_DAYS,
  channelIds: [],
  messageTemplate: null,
  messageTemplates: {},
  language: null,
  push: false,
  severity: 'info' as const,
  shared: false,
  escalateAfterMinutes: null,
  escalateTo: [],
  emailStates: [{ address: 'dispatch@example.com', state: 'confirmed' as const, suppressedToday: 0 }],
  days: { on: 'weekdays' as const, weekdays: ['monday' as const, 'friday' as const] },
  lastNotifiedAt: '2026-01-15T22:30:05.000Z',
  failedDeliveries: 0,
};
const RuleOut = RULE_OUT.meta({ id: 'NotificationRule', examples: [RULE_OUT_EXAMPLE] });
/** Response to the caller who sets a webhook; the only one that contains its secret. */
const RuleSetOut = RULE_OUT.extend({
  webhook: z
    .strictObject({
      url: shownUrl,
      secret: z.string().optional().meta({ description: 'Only present if this call set it. It is never shown again.' }),
    })
    .nullable(),
}).meta({
  id: 'NotificationRuleAsSet',
  examples: [
    {
      ...RULE_OUT_EXAMPLE,
      webhook: { ...SHOWN_WEBHOOK, secret: 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=' },
    },
  ],
});

const EVENT_EXAMPLE = {
  id: '01961f3c-e2b0-7c4d-9f30-6bae5d8c2f71',
  kind: 'geofence-visit' as const,
  phase: 'begin' as const,
  vehicleId: '01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d57',
  startedAt: '2026-01-15T22:30:00.000Z',
  endedAt: null,
  latitude: 59.9386,
  longitude: 30.3141,
  startLatitude: 59.9386,
  startLongitude: 30.3141,
  speedKmh: 12.5,
  geofenceId: '01961f3c-be54-7a7c-9f5b-6d0e4a8c2b9b',
  endReason: null,
  fromFixTime: '2026-01-15T22:29:54.000Z',
  fixTime: '2026-01-15T22:30:04.000Z',
  definitionVersion: 1,
  origin: 'live' as const,
  inferred: false,
  receivedAt: '2026-01-15T22:30:04.600Z',
  traceId: '0af7651916cd43dd8448eb211c80319c',
};

export const EventOut = z
  .looseObject({
    id: idOut,
    kind: z.enum(EVENT_KINDS),
    phase: z.enum(['begin', 'end']),
    vehicleId: idOut,
    startedAt: timeOut,
    endedAt: timeOut.nullable(),
    fromFixTime: timeOut.meta({ description: 'Time of the first fix that the event is derived from.' }),
    fixTime: timeOut.meta({ description: 'Time of the last fix that the event is derived from.' }),
    definitionVersion: z
      .int()
      .meta({ description: 'Version of the geofence if the event is about one, otherwise of the vehicle.' }),
    origin: z.enum(['live', 'recalculated']),
    inferred: z.boolean().meta({
      description: 'True if no single fix shows the event and it was inferred from the path between two fixes.',
    }),
    latitude: z.number(),
    longitude: z.number(),
    startLatitude: z.number().optional().meta({
      description: 'Latitude of the start, in both phases. Absent from events recorded before this field existed.',
    }),
    startLongitude: z.number().optional(),
    speedKmh: z.number().nullable(),
    receivedAt: timeOut.optional().meta({
      description:
        'Time of receipt of the packet that caused the event. If no packet did, such as after a change of a definition, `fixTime`.',
    }),
    traceId: z
      .string()
      .regex(/^[0-9a-f]{32}$/)
      .optional()
      .meta({ description: 'Trace id of that packet, in the logs and traces of all services.' }),
    ...eventFields(),
    alarm: AlarmOut.optional().meta({ description: 'For `alarm`: the alarm that was raised.' }),
    endReason: z
      .enum(END_REASONS)
      .nullable()
      .meta({ description: 'Why the event ended. Null while it is in progress.' }),
    driverCode: z.string().optional().meta({
      description:
        'Code of the driver: that of the driver shift in this phase, or of the last shift that overlaps the event.',
    }),
  })
  .meta({
    id: 'PublishedEvent',
    description: 'An event. The descriptions of fields that only some kinds have name these kinds.',
    examples: [EVENT_EXAMPLE],
  });

const LICENCE_EXAMPLE = {
  id: '01961f3c-e2b0-7c4d-9f30-6bae5d8c2f72',
  kind: LICENCE_EXPIRY,
  phase: 'begin' as const,
  vehicleId: null,
  driverId: '01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d99',
  stage: 'expires-soon' as const,
  licenceExpiresOn: '2026-02-14',
  startedAt: '2026-01-15T00:00:00.000Z',
  endedAt: null,
};

export const LicenceExpiryOut = z
  .strictObject({
    id: idOut,
    kind: z.literal(LICENCE_EXPIRY),
    phase: z.literal('begin'),
    vehicleId: z.null(),
    driverId: idOut,
    stage: z.enum(['expires-soon', 'expired']).meta({
      description: '`expires-soon`: the licence is still valid, but expires soon. `expired`: its last day is over.',
    }),
    licenceExpiresOn: z.string().meta({ description: 'The last day on which the licence is valid.' }),
    startedAt: timeOut.meta({
      description: 'Start of the day on which this stage began, in the time zone of the rule.',
    }),
    endedAt: z.null(),
  })
  .meta({
    id: 'LicenceExpiry',
    description: 'A driving licence that expires, in notifications. It has no vehicle and no place.',
    examples: [LICENCE_EXAMPLE],
  });

export const NOTIFICATION_EXAMPLE = {
  id: '01961f3c-f3c0-7d5e-8041-7cbf6e9d3082',
  number: 77,
  ruleId: '01961f3c-d1a0-7b3c-8e2f-5a9d4c7b1e60',
  ruleVersion: 3,
  ruleName: 'Depot at night',
  vehicleName: 'Van 7',
  geofenceName: 'Depot',
  driverName: null,
  severity: 'warning' as const,
  incidentId: '01961f3c-f3c0-7d5e-8041-7cbf6e9d3082',
  late: false,
  lastedSeconds: null,
  event: EVENT_EXAMPLE,
  createdAt: '2026-01-15T22:30:05.000Z',
  readAt: null,
};
const NotificationOut = z
  .strictObject({
    id: idOut,
    number: z.int().meta({
      description: 'Increases by one with each notification of the user. The cursor of the live API contains it.',
    }),
    ruleId: idOut,
    ruleVersion: z.int(),
    ruleName: z
      .string()
      .meta({ description: 'Name of the rule. All names are those at the time of the notification.' }),
    vehicleName: z.string().nullable().meta({ description: 'Null if the notification is not about a vehicle.' }),
    geofenceName: z.string().nullable(),
    driverName: z.string().nullable().meta({
      description: 'Set if the notification is about a driver. Null for others, and after the driver was deleted.',
    }),
    severity: z.enum(SEVERITIES).meta({
      description: 'Severity of the rule at that time.',
    }),
    incidentId: idOut.nullable().meta({
      description: 'Incident of the notification, at `/api/v1/incidents/{id}`. Null for severity `info`.',
    }),
    late: z.boolean().meta({
      description:
        'True if the data arrived after newer data of the vehicle. The event was then found afterwards, and `event.origin` is `recalculated`.',
    }),
    lastedSeconds: z.number().nullable().meta({
      description:
        'How long the event had lasted, in seconds, if the rule waited for that (`minDurationMinutes`). Null otherwise.',
    }),
    event: z.union([EventOut, LicenceExpiryOut]),
    createdAt: timeOut,
    readAt: timeOut.nullable(),
  })
  .meta({ id: 'Notification', examples: [NOTIFICATION_EXAMPLE] });

const { readAt: _, ...SENT_EXAMPLE } = NOTIFICATION_EXAMPLE;
const PLACE_ABOUT = 'named as by `GET /api/v1/place`. Null if nothing is known about it';

/** Body of a request to a webhook. */
export const WebhookOut = z
  .strictObject({
    type: z
      .enum([
        ...EVENT_KINDS.flatMap((kind) => (['begin', 'end'] as const).map((phase) => `${kind}.${phase}` as const)),
        `${LICENCE_EXPIRY}.begin`,
      ])
      .meta({ description: 'Kind and phase of the event.' }),
    timestamp: timeOut.meta({ description: 'When the user was notified.' }),
    data: NotificationOut.omit({ readAt: true }).extend({
      startPlace: z
        .string()
        .nullable()
        .meta({ description: `Place where the event began, ${PLACE_ABOUT}.` }),
      endPlace: z
        .string()
        .nullable()
        .meta({ description: `Place where the event ended, ${PLACE_ABOUT}, or while the event is in progress.` }),
    }),
  })
  .meta({
    id: 'NotificationWebhook',
    examples: [
      {
        type: 'geofence-visit.begin',
        timestamp: NOTIFICATION_EXAMPLE.createdAt,
        data: { ...SENT_EXAMPLE, startPlace: 'Depot', endPlace: null },
      },
    ],
  });

const DeliveryOut = z
  .strictObject({
    id: idOut.meta({ description: 'Value of the header `webhook-id`, the same on every attempt.' }),
    notificationId: idOut,
    ruleId: idOut,
    channel: z.enum(DELIVERY_CHANNELS),
    target: z.string().meta({
      description: 'An e-mail address, the URL of a webhook as shown in rules, or the id of a message channel.',
    }),
    state: z
      .enum(DELIVERY_STATES)
      .meta({ description: '`cancelled`: it was not sent, for the reason in `lastError`, such as a deleted rule.' }),
    attempts: z.int(),
    createdAt: timeOut,
    nextAttemptAt: timeOut.nullable(),
    finishedAt: timeOut.nullable(),
    lastError: z.string().nullable(),
    responseStatus: z.int().nullable(),
    attemptLog: z
      .array(z.strictObject({ at: timeOut, error: z.string().nullable(), responseStatus: z.int().nullable() }))
      .meta({ description: 'The last 20 attempts, oldest first, including those before a resend.' }),
    isEscalation: z.boolean().meta({ description: 'Whether it reports that an incident was escalated.' }),
    notification: NotificationOut.nullable().meta({
      description: 'The delivered notification. Null if it is no longer visible to the caller.',
    }),
  })
  .meta({
    id: 'Delivery',
    examples: [
      {
        id: '01961f3d-04d0-7e6f-9152-8dc07fae4193',
        notificationId: NOTIFICATION_EXAMPLE.id,
        ruleId: NOTIFICATION_EXAMPLE.ruleId,
        channel: 'webhook',
        target: SHOWN_WEBHOOK.url,
        state: 'pending',
        attempts: 2,
        createdAt: '2026-01-15T22:30:05.000Z',
        nextAttemptAt: '2026-01-15T22:30:27.000Z',
        finishedAt: null,
        lastError: 'The endpoint answered 503.',
        responseStatus: 503,
        isEscalation: false,
        attemptLog: [
          { at: '2026-01-15T22:30:06.000Z', error: 'The endpoint answered 500.', responseStatus: 500 },
          { at: '2026-01-15T22:30:12.000Z', error: 'The endpoint answered 503.', responseStatus: 503 },
        ],
        notification: NOTIFICATION_EXAMPLE,
      },
    ],
  });

const TrialOut = z
  .strictObject({
    from: timeOut,
    to: timeOut,
    examined: z.int(),
    complete: z.boolean().meta({
      description:
        'False if there were too many events to examine all, or too many matches to return all. Only the newest ones are included.',
    }),
    firstEventAt: timeOut.nullable().meta({
      description:
        'Start of the first event of the vehicles in the week, of any kind; if not all events were examined, of the first examined one. Null if there is none.',
    }),
    days: z.array(z.strictObject({ date: z.string(), count: z.int() })).meta({
      description:
        'Number of notifications that the rule would have sent, by day in its `timeZone`. Days without any are left out.',
    }),
    matched: z
      .array(EventOut)
      .meta({ description: 'Events that the rule would have notified of, newest first; at most 1000.' }),
    notMatched: z.array(
      z.strictObject({
        reason: z.enum(MISMATCHES),
        count: z.int(),
        examples: z.array(EventOut).meta({ description: 'The newest of these events, at most 3.' }),
      }),
    ),
  })
  .meta({
    id: 'NotificationRuleTrial',
    examples: [
      {
        from: '2026-01-09T12:00:00.000Z',
        to: '2026-01-16T12:00:00.000Z',
        examined: 3,
        complete: true,
        firstEventAt: '2026-01-12T06:10:00.000Z',
        days: [{ date: '2026-01-15', count: 1 }],
        matched: [EVENT_EXAMPLE],
        notMatched: [{ reason: 'other-hours', count: 2, examples: [] }],
      },
    ],
  });

const TRIAL_DESCRIPTION =
  'The rule is treated as active, with the current rights. Only events of its kinds, vehicles and geozones are examined, at most the newest 10,000. The time of arrival of the data is not checked, so `maxDataAgeMinutes` has no effect. The result for a rule of kind `licence-expiry` is empty, because it is not about events.';

const byId = z.object({ id: id<NotificationRuleId>() });
/** @throws {Problem} when the command blocks the engine and is not confirmed */
function storedCommand(command: z.output<typeof commandIn>): RuleCommand | null {
  if (command === null) return null;
  const { confirm, maxSpeedKmh, expiresInSeconds, ...order } = command;
  if (order.type === 'engine-block' && !confirm)
    throw badField('/command/confirm', 'It must be true: the command can stop the vehicle.');
  return ruleCommandOf(order, { maxSpeedKmh, expiresInSeconds });
}

function ruleBody(rule: ListedRule, webhookSecret: string | null = null): unknown {
  const { kind: _, version: __, webhookUrl, lastNotifiedAtMs, command, ...shown } = rule;
  const webhook = webhookUrl === null ? null : { url: webhookUrl, ...(webhookSecret ? { secret: webhookSecret } : {}) };
  const lastNotifiedAt = lastNotifiedAtMs === null ? null : isoTime(lastNotifiedAtMs);
  if (command === null) return { ...shown, webhook, command, lastNotifiedAt };
  const { maxSpeedKmh, expiresInSeconds } = command;
  const shownCommand = { ...orderOfRule(command), maxSpeedKmh, expiresInSeconds };
  return { ...shown, webhook, command: shownCommand, lastNotifiedAt };
}

const rules = new ResourceRoutes({
  group: 'Notifications',
  path: '/api/v1/notification-rules',
  operations: ['NotificationRule', 'NotificationRules'],
  noun: 'rule',
  params: byId,
  body: RuleOut,
  show: ({ rule, webhookSecret }: RuleShown) => ruleBody(rule, webhookSecret),
  entityOf: ({ rule }) => rule,
});

function deliveryBody(delivery: ListedDelivery): unknown {
  const { userId: _, createdAtMs, nextAttemptAtMs, finishedAtMs, log, notification, ...shown } = delivery;
  return {
    ...shown,
    createdAt: isoTime(createdAtMs),
    nextAttemptAt: nextAttemptAtMs === null ? null : isoTime(nextAttemptAtMs),
    finishedAt: finishedAtMs === null ? null : isoTime(finishedAtMs),
    attemptLog: log.map(({ atMs, error, status }) => ({ at: isoTime(atMs), error, responseStatus: status })),
    notification: notification && notificationJson(notification),
  };
}

function channelTestBody({ userId: _, createdAtMs, finishedAtMs, ...shown }: ChannelTest): unknown {
  const finishedAt = finishedAtMs === null ? null : isoTime(finishedAtMs);
  return { ...shown, createdAt: isoTime(createdAtMs), finishedAt };
}

function trialBody({ fromMs, toMs, firstEventAtMs, matched, notMatched, ...shown }: RuleTrial): unknown {
  return {
    ...shown,
    from: isoTime(fromMs),
    to: isoTime(toMs),
    firstEventAt: firstEventAtMs === null ? null : isoTime(firstEventAtMs),
    matched: matched.map(eventJson),
    notMatched: notMatched.map((each) => ({ ...each, examples: each.examples.map(eventJson) })),
  };
}

/** Both Temporal, which computes the local time, and Intl, which formats it, must know the zone. */
function isTimeZone(text: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(text)) return false;
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(text);
    new Intl.DateTimeFormat('en', { timeZone: text });
    return true;
  } catch {
    return false;
  }
}

/** @param what completes "Earliest time at which …": for example "the incident was opened" */
export const timeRange = (what: string) => ({
  from: utcRangeEndSuchAs('2026-01-15T00:00:00.000Z')
    .optional()
    .meta({ description: `Earliest time at which ${what}, inclusive.` }),
  to: utcRangeEndSuchAs('2026-01-16T00:00:00.000Z')
    .optional()
    .meta({ description: `Latest time at which ${what}, exclusive.` }),
});

export function rangeOf({ from, to }: { from?: number | undefined; to?: number | undefined }) {
  if (from !== undefined && to !== undefined && to <= from) throw badParameter('to', 'It must be later than from.');
  return { ...(from === undefined ? {} : { fromMs: from }), ...(to === undefined ? {} : { toMs: to }) };
}

/** Selection criteria of a rule, with the defaults of a new one. */
const NEW_TERMS = {
  eventKinds,
  phases: phases.default(['begin']),
  minDurationMinutes: minDurationMinutes.default(0),
  alarms: alarms.default(null),
  sensors: sensors.default(null),
  vehicleIds: vehicleIds.default(null),
  groupIds: groupIds.default(null),
  geofenceIds: geofenceIds.default(null),
  insideGeofenceIds: insideGeofenceIds.default(null),
  outsideGeofenceIds: outsideGeofenceIds.default(null),
  driver: driver.default(null),
  driverIds: driverIds.default(null),
  driverGroupIds: driverGroupIds.default(null),
  licenceWarningDays: licenceWarningDays.default(DEFAULT_LICENCE_WARNING_DAYS),
  days: days.default({ on: 'daily' }),
  hours: hours.default(null),
  timeZone: timeZone.default('UTC'),
  minIntervalMinutes: minIntervalMinutes.default(0),
  maxDataAgeMinutes: maxDataAgeMinutes.default(null),
};

const ChannelTestOut = z
  .strictObject({
    id: idOut,
    ruleId: idOut,
    channel: z.enum(['email', 'webhook']),
    target: z.string().meta({ description: 'The e-mail address, or the URL of the webhook as shown in rules.' }),
    state: z.enum(DELIVERY_STATES).meta({
      description: '`cancelled`: it was not sent, for the reason in `lastError`, such as an unconfirmed address.',
    }),
    createdAt: timeOut,
    finishedAt: timeOut.nullable(),
    lastError: z.string().nullable(),
    responseStatus: z.int().nullable(),
  })
  .meta({
    id: 'ChannelTest',
    examples: [
      {
        id: '01961f3d-15e0-7f70-a263-9ed180bf52a4',
        ruleId: NOTIFICATION_EXAMPLE.ruleId,
        channel: 'webhook',
        target: SHOWN_WEBHOOK.url,
        state: 'delivered',
        createdAt: '2026-01-15T22:31:00.000Z',
        finishedAt: '2026-01-15T22:31:01.000Z',
        lastError: null,
        responseStatus: 204,
      },
    ],
  });

const PREVIEW_FACTS = {
  phase: 'begin' as const,
  vehicleName: NOTIFICATION_EXAMPLE.vehicleName,
  geofenceName: NOTIFICATION_EXAMPLE.geofenceName,
  ruleName: NOTIFICATION_EXAMPLE.ruleName,
  startPlace: 'Friedrichstraße 12, Berlin',
  endedAtMs: null,
  latitude: 52.517,
  longitude: 13.389,
  speedKmh: 62,
  limitKmh: 50,
  distanceM: 12_400,
};

const LICENCE_FACTS = {
  kind: LICENCE_EXPIRY,
  phase: 'begin' as const,
  vehicleName: null,
  driverName: 'Anna Berg',
  stage: LICENCE_EXAMPLE.stage,
  licenceExpiresOn: LICENCE_EXAMPLE.licenceExpiresOn,
  ruleName: 'Driving licences',
  endedAtMs: null,
};

const numberCursor = z.int().min(1);

export const notificationRoutes: Route[] = [
  rules.list({
    summary: 'List the notification rules of the caller; for operators, those of all accounts.',
    query: z.object({
      ...paging,
      ownerId: id<UserId>().optional().meta({ description: 'Return only rules of this account.' }),
    }),
    async page(query, { access }) {
      const page = await access.notificationRules.page(query.ownerId ?? null, pageAsked(query));
      return { ...page, items: page.items.map((rule) => ({ rule, webhookSecret: null })) };
    },
  }),
  rules.add({
    summary: 'Add a notification rule.',
    description:
      'The caller becomes the owner of the rule, and is notified of the events that it selects: always in the inbox and over the live API, and by the e-mails, webhook and message channels that the rule names. What the owner may not see at that time is never sent.',
    body: z
      .strictObject({
        name,
        active: active.default(true),
        ...NEW_TERMS,
        emails: emails.default([]),
        channelIds: channelIds.default([]),
        messageTemplate: messageTemplate.default(null),
        messageTemplates: messageTemplates.default({}),
        language: messageLanguage.default(null),
        push: push.default(false),
        severity: severity.default('info'),
        shared: shared.default(false),
        escalateAfterMinutes: escalateAfterMinutes.default(null),
        escalateTo: escalateTo.default([]),
        webhook: webhookIn.default(null),
        command: commandIn.default(null),
      })
      .meta({ id: 'NewNotificationRule', examples: [RULE_EXAMPLE as never] }),
    answered: RuleSetOut,
    problems: ['conflict', 'quota-exceeded'],
    add({ webhook, command, ...fields }, { access }) {
      const wish: RuleWish = {
        ...fields,
        command: storedCommand(command),
        webhookUrl: webhook?.url ?? null,
        webhookSecret: webhook?.secret,
      };
      return access.notificationRules.add(wish);
    },
  }),
  rules.get({
    get: async ({ id }, { access }) => ({ rule: await access.notificationRules.get(id), webhookSecret: null }),
  }),
  rules.change({
    summary: 'Change a notification rule (JSON merge patch).',
    description:
      '`days` and `hours` are replaced as a whole. A webhook keeps its secret unless another one is given. A rule that became inactive because the objects that it named were deleted is activated again with `active`.',
    body: z
      .strictObject({
        name,
        active,
        eventKinds,
        phases,
        minDurationMinutes,
        alarms,
        sensors,
        vehicleIds,
        groupIds,
        geofenceIds,
        insideGeofenceIds,
        outsideGeofenceIds,
        driver,
        driverIds,
        driverGroupIds,
        licenceWarningDays,
        days,
        hours,
        timeZone,
        minIntervalMinutes,
        maxDataAgeMinutes,
        emails,
        channelIds,
        messageTemplate,
        messageTemplates,
        language: messageLanguage,
        push,
        severity,
        shared,
        escalateAfterMinutes,
        escalateTo,
        webhook: webhookIn,
        command: commandIn,
      })
      .partial()
      .meta({ id: 'NotificationRulePatch', examples: [{ active: false }] }),
    answered: RuleSetOut,
    problems: ['conflict'],
    change: ({ id }, body, { access, ifMatch }) =>
      access.notificationRules.change(id, ifMatch, (current) => {
        const given = <T>(value: T | undefined, now: T): T => (value === undefined ? now : value);
        return {
          name: body.name ?? current.name,
          active: body.active ?? current.active,
          eventKinds: body.eventKinds ?? current.eventKinds,
          phases: body.phases ?? current.phases,
          minDurationMinutes: body.minDurationMinutes ?? current.minDurationMinutes,
          alarms: given<NotificationRule['alarms']>(body.alarms, current.alarms),
          sensors: given<NotificationRule['sensors']>(body.sensors, current.sensors),
          vehicleIds: given<NotificationRule['vehicleIds']>(body.vehicleIds, current.vehicleIds),
          groupIds: given<NotificationRule['groupIds']>(body.groupIds, current.groupIds),
          geofenceIds: given<NotificationRule['geofenceIds']>(body.geofenceIds, current.geofenceIds),
          insideGeofenceIds: given<NotificationRule['geofenceIds']>(body.insideGeofenceIds, current.insideGeofenceIds),
          outsideGeofenceIds: given<NotificationRule['geofenceIds']>(
            body.outsideGeofenceIds,
            current.outsideGeofenceIds,
          ),
          driver: given(body.driver, current.driver),
          driverIds: given<NotificationRule['driverIds']>(body.driverIds, current.driverIds),
          driverGroupIds: given<NotificationRule['groupIds']>(body.driverGroupIds, current.driverGroupIds),
          licenceWarningDays: body.licenceWarningDays ?? current.licenceWarningDays,
          days: given<RuleDays>(body.days, current.days),
          hours: given(body.hours, current.hours),
          timeZone: body.timeZone ?? current.timeZone,
          minIntervalMinutes: body.minIntervalMinutes ?? current.minIntervalMinutes,
          maxDataAgeMinutes: given(body.maxDataAgeMinutes, current.maxDataAgeMinutes),
          emails: body.emails ?? current.emails,
          channelIds: body.channelIds ?? current.channelIds,
          messageTemplate: given<string | null>(body.messageTemplate, current.messageTemplate),
          messageTemplates: body.messageTemplates ?? current.messageTemplates,
          language: given<string | null>(body.language, current.language),
          push: body.push ?? current.push,
          severity: body.severity ?? current.severity,
          shared: body.shared ?? current.shared,
          escalateAfterMinutes: given(body.escalateAfterMinutes, current.escalateAfterMinutes),
          escalateTo: body.escalateTo ?? current.escalateTo,
          webhookUrl: body.webhook === undefined ? current.webhookUrl : (body.webhook?.url ?? null),
          webhookSecret: body.webhook?.secret,
          command: body.command === undefined ? current.command : storedCommand(body.command),
        };
      }),
  }),
  rules.remove({
    summary: 'Delete a notification rule. Its notifications stay in the inbox.',
    remove: ({ id }, { access, ifMatch }) => access.notificationRules.remove(id, ifMatch),
  }),
  post('/api/v1/notification-rules/{id}/test', {
    operationId: 'testNotificationRule',
    scope: 'read',
    summary: 'Test a notification rule against the events of the last week.',
    description: TRIAL_DESCRIPTION,
    params: byId,
    answers: {
      200: {
        description: 'Events that the rule would have notified of, and why it would not have notified of the others.',
        body: TrialOut,
      },
    },
    problems: ['not-found'],
    async handle({ params }, { access, nowMs }) {
      return { status: 200, body: trialBody(await access.ruleTrials.ofStored(params.id, nowMs)) };
    },
  }),
  post('/api/v1/notification-rules/test', {
    operationId: 'testNotificationRuleDraft',
    scope: 'read',
    summary: 'Test a rule that is not saved against the events of the last week.',
    description: TRIAL_DESCRIPTION,
    body: z
      .strictObject({
        ruleId: id<NotificationRuleId>().nullable().default(null).meta({
          description: 'The rule that it would replace, whose owner is kept. Null for a new rule of the caller.',
        }),
        ...NEW_TERMS,
      })
      .meta({ id: 'NotificationRuleDraft', examples: [{ eventKinds: ['speeding'], timeZone: 'Europe/Berlin' }] }),
    answers: {
      200: {
        description: 'Events that the rule would have notified of, and why it would not have notified of the others.',
        body: TrialOut,
      },
    },
    problems: ['not-found'],
    async handle({ body }, { access, nowMs }) {
      const { ruleId, ...draft } = body;
      return { status: 200, body: trialBody(await access.ruleTrials.ofDraft(draft, ruleId, nowMs)) };
    },
  }),
  post('/api/v1/notification-rules/preview', {
    operationId: 'previewNotificationMessage',
    scope: 'read',
    summary: 'Preview the message of a rule, with an example event.',
    body: z
      .strictObject({
        messageTemplate: messageTemplate.default(null),
        eventKind: z.enum(NOTIFIED_KINDS).default('parking'),
        timeZone: timeZone
          .optional()
          .meta({ description: 'Time zone to use if the preferences of the caller have none. Default: UTC.' }),
        language: messageLanguage.default(null).meta({ description: 'Null for the language of the caller.' }),
      })
      .meta({ id: 'MessagePreviewRequest', examples: [{ messageTemplate: '{vehicle} parks at {place}' }] }),
    answers: {
      200: {
        description: 'Subject and text of the message.',
        body: z.strictObject({ subject: z.string(), text: z.string() }).meta({
          id: 'MessagePreview',
          examples: [{ subject: "Vehicle event: 'Van 7' parked", text: 'Van 7 parks at Depot' }],
        }),
      },
    },
    async handle({ body }, { access, nowMs }) {
      const facts =
        body.eventKind === LICENCE_EXPIRY
          ? { ...LICENCE_FACTS, startedAtMs: nowMs }
          : { ...PREVIEW_FACTS, kind: body.eventKind, startedAtMs: nowMs };
      const reader = await access.notificationRules.reader(body.timeZone ?? 'UTC', body.language);
      const { subject, words } = notificationText(facts, reader, body.messageTemplate);
      return { status: 200, body: { subject, text: words } };
    },
  }),
  post('/api/v1/notification-rules/{id}/channel-tests', {
    operationId: 'addChannelTest',
    summary: 'Send a test message over a channel of a notification rule.',
    description:
      'The message is sent once, within seconds. An account can send 5 tests a minute. A webhook gets `{"type": "test"}`, signed like any other message.',
    params: byId,
    body: z
      .discriminatedUnion('channel', [
        z.strictObject({
          channel: z.literal('email'),
          address: z.string().max(320).meta({
            description: 'One of the addresses in `emails` or `escalateTo` of the rule, written in the same way.',
          }),
        }),
        z.strictObject({ channel: z.literal('webhook') }),
      ])
      .meta({ id: 'NewChannelTest', examples: [{ channel: 'email', address: 'dispatch@example.com' }] }),
    answers: { 202: { description: 'The message is queued.', body: ChannelTestOut } },
    problems: ['not-found', 'too-many-requests'],
    async handle({ params, body }, { access }) {
      const target = body.channel === 'email' ? body.address : null;
      return { status: 202, body: channelTestBody(await access.notificationRules.testChannel(params.id, target)) };
    },
  }),
  get('/api/v1/notification-rules/{id}/channel-tests', {
    operationId: 'listChannelTests',
    summary: 'List the caller’s test messages of the last hour with their results, newest first; at most 100.',
    params: byId,
    answers: { 200: { description: 'The newest tests, with their results.', body: listOf(ChannelTestOut) } },
    problems: ['not-found'],
    async handle({ params }, { access }) {
      const tests = await access.notificationRules.channelTests(params.id);
      return pageReply({ items: tests, next: null }, channelTestBody);
    },
  }),
  get('/api/v1/notifications', {
    operationId: 'listNotifications',
    summary: 'List the notifications of the caller, newest first.',
    description:
      'Returns only notifications about what the caller may see now. A page may therefore have fewer items than `limit`.',
    query: z.object({
      ...paging,
      ...timeRange('the user was notified'),
      unread: z
        .enum(['true', 'false'])
        .optional()
        .meta({
          description: '`true`: return only unread notifications. `false`: return only read ones.',
          examples: ['true'],
        }),
      kind: z
        .enum(NOTIFIED_KINDS)
        .optional()
        .meta({ description: 'Return only notifications of events of this kind.', examples: ['speeding'] }),
      vehicleId: id<VehicleId>().optional().meta({ description: 'Return only notifications about this vehicle.' }),
      ruleId: id<NotificationRuleId>().optional().meta({ description: 'Return only notifications of this rule.' }),
    }),
    answers: {
      200: {
        description: PAGE,
        body: z
          .strictObject({ ...listOf(NotificationOut).shape, unreadCount: z.int() })
          .meta({ examples: [{ items: [NOTIFICATION_EXAMPLE], nextCursor: null, unreadCount: 1 }] }),
      },
    },
    async handle({ query }, { access }) {
      const { items, next, unreadCount } = await access.inbox.page(
        {
          ...rangeOf(query),
          ...(query.unread === undefined ? {} : { unread: query.unread === 'true' }),
          ...(query.kind === undefined ? {} : { eventKind: query.kind }),
          ...(query.vehicleId === undefined ? {} : { vehicleId: query.vehicleId }),
          ...(query.ruleId === undefined ? {} : { ruleId: query.ruleId }),
        },
        { limit: query.limit, after: readCursor(numberCursor, query.cursor) },
      );
      const nextCursor = next === null ? null : writeCursor(next);
      return { status: 200, body: { items: items.map(notificationJson), nextCursor, unreadCount } };
    },
  }),
  post('/api/v1/notifications/{id}/read', {
    operationId: 'readNotification',
    summary: 'Mark a notification as read.',
    params: z.object({ id: id<NotificationId>() }),
    answers: {
      200: { description: 'The notification. If it was read before, `readAt` is not changed.', body: NotificationOut },
    },
    problems: ['not-found'],
    async handle({ params }, { access }) {
      return { status: 200, body: notificationJson(await access.inbox.markRead(params.id)) };
    },
  }),
  post('/api/v1/notifications/read-all', {
    operationId: 'readAllNotifications',
    summary: 'Mark all notifications as read.',
    query: z.object({
      upTo: wholeParameter(1, Number.MAX_SAFE_INTEGER, 77)
        .optional()
        .meta({ description: '`number` of the newest notification that was seen. Newer ones stay unread.' }),
    }),
    answers: {
      200: {
        description: 'Number of notifications that were unread before.',
        body: z.strictObject({ marked: z.int() }).meta({ id: 'NotificationsMarked', examples: [{ marked: 3 }] }),
      },
    },
    async handle({ query }, { access }) {
      return { status: 200, body: { marked: await access.inbox.markAllRead(query.upTo ?? null) } };
    },
  }),
  get('/api/v1/webhook-deliveries', {
    operationId: 'listWebhookDeliveries',
    summary: 'List the deliveries of the caller’s notifications, newest first.',
    description: 'A delivery that fails temporarily is tried again for a day, at increasing intervals.',
    query: z.object({
      ...paging,
      ...timeRange('the user was notified'),
      channel: z
        .enum([...DELIVERY_CHANNELS, 'any'])
        .default('webhook')
        .meta({
          description: 'Return only deliveries over this channel; `any` for all channels.',
          examples: ['webhook'],
        }),
      state: z
        .enum(DELIVERY_STATES)
        .optional()
        .meta({ description: 'Return only deliveries in this state.', examples: ['failed'] }),
      ruleId: id<NotificationRuleId>().optional().meta({ description: 'Return only deliveries of this rule.' }),
    }),
    answers: { 200: pageOf(DeliveryOut) },
    async handle({ query }, { access }) {
      const { channel, state, ruleId } = query;
      const page = await access.inbox.deliveries(
        {
          ...rangeOf(query),
          ...(channel === 'any' ? {} : { channel }),
          ...(state === undefined ? {} : { state }),
          ...(ruleId === undefined ? {} : { ruleId }),
        },
        pageAsked(query),
      );
      return pageReply(page, deliveryBody);
    },
  }),
  post('/api/v1/webhook-deliveries/{id}/resend', {
    operationId: 'resendWebhookDelivery',
    summary: 'Send a delivery again.',
    description:
      'It is sent at once, and after failures tried for as long as a new delivery. One that is being sent now is not changed.',
    params: z.object({ id: id<DeliveryId>() }),
    answers: { 202: { description: 'The delivery is queued.', body: DeliveryOut } },
    problems: ['not-found'],
    async handle({ params }, { access }) {
      return { status: 202, body: deliveryBody(await access.inbox.resend(params.id)) };
    },
  }),
];
