import type { ListedRule, RuleShown, RuleWish } from '@outrider/access';
import { badParameter } from '@outrider/access';
import { checkWebhookSecret } from '@outrider/channels';
import {
  type DeliveryId,
  EVENT_KINDS,
  eventJson,
  type GeofenceId,
  type GroupId,
  isoTime,
  MISMATCHES,
  type NotificationId,
  type NotificationRule,
  type NotificationRuleId,
  notificationJson,
  type RuleDays,
  type VehicleId,
  WEEKDAYS,
} from '@outrider/domain';
import { DELIVERY_STATES, type Delivery } from '@outrider/registry';
import { z } from 'zod';
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
  timeSuchAs,
  writeCursor,
} from '../fields.ts';
import { etagOf } from '../input.ts';
import { type Reply, type Route, route } from '../route.ts';

const name = line(200);
const active = z.boolean().meta({ description: 'A rule that is not active notifies nobody.' });
const eventKinds = z
  .array(z.enum(EVENT_KINDS))
  .min(1)
  .max(50)
  .transform((kinds) => [...new Set(kinds)])
  .meta({ description: 'Kinds of event, such as `geofence-visit` and `speeding`.' });
const phases = z
  .array(z.enum(['begin', 'end']))
  .min(1)
  .transform((list) => [...new Set(list)])
  .meta({ description: 'Of an event that lasts: notified when it begins, when it ends, or both.' });

function ids<Id extends string>(description: string) {
  return z.array(id<Id>()).min(1).max(1000).nullable().meta({ description });
}
const vehicleIds = ids<VehicleId>(
  'These vehicles, and those of `groupIds`; null in both: all that the owner may see, now and later.',
);
const groupIds = ids<GroupId>('Vehicles of these groups, and those of `vehicleIds`.');
const geofenceIds = ids<GeofenceId>(
  'Only what is about one of these geozones; null: anything, and of what is about a geozone that which is about an own one.',
);

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
  .meta({ description: 'Daily, on some weekdays, or from a date to a date (both inclusive), by the `timeZone`.' });
const clock = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'It must be a time of day such as 08:30.');
const hours = z
  .strictObject({ from: clock, to: clock })
  .refine(({ from, to }) => from !== to, { path: ['to'], error: 'It must differ from from; null is the whole day.' })
  .nullable()
  .meta({
    description:
      'By the clock of the `timeZone`, `to` exclusive; null: the whole day. A `to` before `from` is the next day, and such a night belongs to the day on which it begins.',
  });
const timeZone = z
  .string()
  .refine(isTimeZone, 'It must be the IANA name of a time zone, such as Europe/Berlin.')
  .meta({ description: 'IANA name, such as `Europe/Berlin`.', examples: ['Europe/Berlin'] });
const minIntervalMinutes = z
  .number()
  .min(0)
  .max(7 * 24 * 60)
  .meta({ description: 'At most one notification per vehicle in so many minutes; 0: all.' });
const maxDataAgeMinutes = z.number().min(1).max(525_600).nullable().meta({
  description:
    'Nothing whose data was older than this when it came: a black box that was read hours later wakes nobody; null: however old, but 60 minutes where data came after newer data of its vehicle.',
});
const emails = recipients('Each gets an e-mail of its own, once its holder has confirmed it: see `emailStates`.');
const secret = z
  .string()
  .superRefine((text, context) => {
    const wrong = checkWebhookSecret(text);
    if (wrong !== null) context.addIssue({ code: 'custom', message: wrong });
  })
  .meta({
    description:
      'What messages are signed with: `whsec_` and 24 to 64 bytes in base64. Made by the service where it is left out.',
  });
const webhookIn = z
  .strictObject({ url: z.string().max(2048), secret: secret.optional() })
  .nullable()
  .meta({ description: 'Gets a POST by the conventions of Standard Webhooks (standardwebhooks.com).' });

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

const RULE_OUT = z.strictObject({
  id: idOut,
  ownerId: idOut,
  name: z.string(),
  active: z.boolean(),
  inactiveReason: z.enum(['switched-off', 'vehicles-deleted', 'groups-deleted', 'geofences-deleted']).nullable().meta({
    description:
      'Null while it is active. All that it named may have been deleted: then it rests rather than mean all.',
  }),
  eventKinds: z.array(z.string()),
  phases: z.array(z.enum(['begin', 'end'])),
  vehicleIds: z.array(idOut).nullable(),
  groupIds: z.array(idOut).nullable(),
  geofenceIds: z.array(idOut).nullable(),
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
  emailStates: EmailStatesOut,
  webhook: z.strictObject({ url: z.string() }).nullable(),
});
const RULE_OUT_EXAMPLE = {
  id: '01961f3c-d1a0-7b3c-8e2f-5a9d4c7b1e60',
  ownerId: '01961f3c-9c32-7e5a-9d3f-4b8c2e6a0f79',
  ...RULE_EXAMPLE,
  active: true,
  inactiveReason: null,
  phases: ['begin' as const, 'end' as const],
  vehicleIds: null,
  groupIds: null,
  emailStates: [{ address: 'dispatch@example.com', state: 'confirmed' as const, suppressedToday: 0 }],
  days: { on: 'weekdays' as const, weekdays: ['monday' as const, 'friday' as const] },
};
const RuleOut = RULE_OUT.meta({ id: 'NotificationRule', examples: [RULE_OUT_EXAMPLE] });
/** The one response with a secret: the one to the caller who sets it. */
const RuleSetOut = RULE_OUT.extend({
  webhook: z
    .strictObject({
      url: z.string(),
      secret: z.string().optional().meta({ description: 'Only where this call set it: it is shown once.' }),
    })
    .nullable(),
}).meta({
  id: 'NotificationRuleAsSet',
  examples: [
    {
      ...RULE_OUT_EXAMPLE,
      webhook: { ...RULE_EXAMPLE.webhook, secret: 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=' },
    },
  ],
});

const EVENT_EXAMPLE = {
  id: '01961f3c-e2b0-7c4d-9f30-6bae5d8c2f71',
  kind: 'geofence-visit',
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

/** Kinds have fields of their own beside these. */
const EventOut = z
  .looseObject({
    id: idOut,
    kind: z.string(),
    phase: z.enum(['begin', 'end']),
    vehicleId: idOut,
    startedAt: timeOut,
    endedAt: timeOut.nullable(),
    fromFixTime: timeOut.meta({ description: 'The first fix that it came from.' }),
    fixTime: timeOut.meta({ description: 'The last: the fix that made it known.' }),
    definitionVersion: z.int().meta({ description: 'Of the geofence where it is about one, else of the vehicle.' }),
    origin: z.enum(['live', 'recalculated']),
    inferred: z.boolean().meta({ description: 'No fix shows it: it was inferred from the way between two.' }),
    latitude: z.number(),
    longitude: z.number(),
    startLatitude: z
      .number()
      .optional()
      .meta({ description: 'Where it began, in either phase. Missing in events recorded before this was kept.' }),
    startLongitude: z.number().optional(),
    speedKmh: z.number().nullable(),
    receivedAt: timeOut.optional().meta({
      description:
        'When the packet came that made it known; where none did (a definition changed, nothing came), `fixTime`.',
    }),
    traceId: z
      .string()
      .regex(/^[0-9a-f]{32}$/)
      .optional()
      .meta({ description: 'What that packet is known by in the logs and traces of all services.' }),
  })
  .meta({
    id: 'PublishedEvent',
    description: 'An event; kinds have fields of their own beside these.',
    examples: [EVENT_EXAMPLE],
  });

const NOTIFICATION_EXAMPLE = {
  id: '01961f3c-f3c0-7d5e-8041-7cbf6e9d3082',
  number: 77,
  ruleId: '01961f3c-d1a0-7b3c-8e2f-5a9d4c7b1e60',
  ruleVersion: 3,
  ruleName: 'Depot at night',
  vehicleName: 'Van 7',
  geofenceName: 'Depot',
  late: false,
  event: EVENT_EXAMPLE,
  createdAt: '2026-01-15T22:30:05.000Z',
  readAt: null,
};
const NotificationOut = z
  .strictObject({
    id: idOut,
    number: z.int().meta({ description: 'Grows by one with each notification of the user; the live cursor holds it.' }),
    ruleId: idOut,
    ruleVersion: z.int(),
    ruleName: z.string().meta({ description: 'Names are those at the time of the notification.' }),
    vehicleName: z.string(),
    geofenceName: z.string().nullable(),
    late: z.boolean().meta({
      description:
        'True where the data came after newer data of the vehicle: what happened was found afterwards, and `event.origin` is `recalculated`.',
    }),
    event: EventOut,
    createdAt: timeOut,
    readAt: timeOut.nullable(),
  })
  .meta({ id: 'Notification', examples: [NOTIFICATION_EXAMPLE] });

const DeliveryOut = z
  .strictObject({
    id: idOut.meta({ description: 'What `webhook-id` holds, on every attempt.' }),
    notificationId: idOut,
    ruleId: idOut,
    channel: z.enum(['email', 'webhook']),
    target: z.string(),
    state: z.enum(DELIVERY_STATES).meta({ description: '`cancelled`: what it was for is gone, so it was not sent.' }),
    attempts: z.int(),
    createdAt: timeOut,
    nextAttemptAt: timeOut.nullable(),
    finishedAt: timeOut.nullable(),
    lastError: z.string().nullable(),
    responseStatus: z.int().nullable(),
  })
  .meta({
    id: 'Delivery',
    examples: [
      {
        id: '01961f3d-04d0-7e6f-9152-8dc07fae4193',
        notificationId: NOTIFICATION_EXAMPLE.id,
        ruleId: NOTIFICATION_EXAMPLE.ruleId,
        channel: 'webhook',
        target: 'https://example.com/hooks/fleet',
        state: 'pending',
        attempts: 2,
        createdAt: '2026-01-15T22:30:05.000Z',
        nextAttemptAt: '2026-01-15T22:30:27.000Z',
        finishedAt: null,
        lastError: 'The endpoint answered 503.',
        responseStatus: 503,
      },
    ],
  });

const TrialOut = z
  .strictObject({
    from: timeOut,
    to: timeOut,
    examined: z.int(),
    complete: z.boolean().meta({ description: 'False where there was more than could be looked at: the newest were.' }),
    matched: z.array(EventOut).meta({ description: 'Events it would have notified of, the newest first.' }),
    notMatched: z.array(
      z.strictObject({
        reason: z.enum(MISMATCHES),
        count: z.int(),
        examples: z.array(EventOut).meta({ description: 'The newest few.' }),
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
        matched: [EVENT_EXAMPLE],
        notMatched: [{ reason: 'other-hours', count: 2, examples: [] }],
      },
    ],
  });

const byId = z.object({ id: id<NotificationRuleId>() });
const RULE_HEADERS = { ETag: 'Version, for `If-Match`.' };
const oneRule = { description: 'The rule.', body: RuleOut, headers: RULE_HEADERS };
const ruleAsSet = { description: 'The rule.', body: RuleSetOut, headers: RULE_HEADERS };

function ruleBody(rule: ListedRule, webhookSecret: string | null = null): unknown {
  const { kind: _, version: __, webhookUrl, ...shown } = rule;
  const webhook = webhookUrl === null ? null : { url: webhookUrl, ...(webhookSecret ? { secret: webhookSecret } : {}) };
  return { ...shown, webhook };
}

function ruleReply(status: number, { rule, webhookSecret }: RuleShown): Reply {
  return {
    status,
    body: ruleBody(rule, webhookSecret),
    headers: {
      etag: etagOf(rule.version),
      ...(status === 201 ? { location: `/api/v1/notification-rules/${rule.id}` } : {}),
    },
  };
}

function deliveryBody(delivery: Delivery): unknown {
  const { userId: _, createdAtMs, nextAttemptAtMs, finishedAtMs, ...shown } = delivery;
  return {
    ...shown,
    createdAt: isoTime(createdAtMs),
    nextAttemptAt: nextAttemptAtMs === null ? null : isoTime(nextAttemptAtMs),
    finishedAt: finishedAtMs === null ? null : isoTime(finishedAtMs),
  };
}

/** Both what finds the local time and what writes it must take it. */
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

const timeRange = {
  from: timeSuchAs('2026-01-15T00:00:00.000Z')
    .optional()
    .meta({ description: 'When the user was notified, inclusive.' }),
  to: timeSuchAs('2026-01-16T00:00:00.000Z').optional().meta({ description: 'When the user was notified, exclusive.' }),
};

function rangeOf({ from, to }: { from?: number | undefined; to?: number | undefined }) {
  if (from !== undefined && to !== undefined && to <= from) throw badParameter('to', 'It must be later than from.');
  return { ...(from === undefined ? {} : { fromMs: from }), ...(to === undefined ? {} : { toMs: to }) };
}

const numberCursor = z.int().min(1);

export const notificationRoutes: Route[] = [
  route({
    method: 'get',
    path: '/api/v1/notification-rules',
    group: 'Notifications',
    operationId: 'listNotificationRules',
    summary: 'Notification rules of the caller; for an operator, everyone’s.',
    query: z.object(paging),
    answers: { 200: { description: 'A page.', body: listOf(RuleOut) } },
    async handle({ query }, { access }) {
      return pageReply(await access.notifications.rules(pageAsked(query)), (rule) => ruleBody(rule));
    },
  }),
  route({
    method: 'post',
    path: '/api/v1/notification-rules',
    group: 'Notifications',
    operationId: 'addNotificationRule',
    summary: 'Add a rule: its owner, the caller, is notified of the events it selects.',
    description:
      'Live and in the inbox always, by e-mail and webhook where they are named. What the owner may not see, at the time, is never sent.',
    body: z
      .strictObject({
        name,
        active: active.default(true),
        eventKinds,
        phases: phases.default(['begin']),
        vehicleIds: vehicleIds.default(null),
        groupIds: groupIds.default(null),
        geofenceIds: geofenceIds.default(null),
        days: days.default({ on: 'daily' }),
        hours: hours.default(null),
        timeZone: timeZone.default('UTC'),
        minIntervalMinutes: minIntervalMinutes.default(0),
        maxDataAgeMinutes: maxDataAgeMinutes.default(null),
        emails: emails.default([]),
        webhook: webhookIn.default(null),
      })
      .meta({ id: 'NewNotificationRule', examples: [RULE_EXAMPLE as never] }),
    answers: { 201: { ...ruleAsSet, description: 'Added.' } },
    problems: ['conflict', 'quota-exceeded'],
    async handle({ body }, { access }) {
      const { webhook, ...fields } = body;
      const wish: RuleWish = { ...fields, webhookUrl: webhook?.url ?? null, webhookSecret: webhook?.secret };
      return ruleReply(201, await access.notifications.addRule(wish));
    },
  }),
  route({
    method: 'get',
    path: '/api/v1/notification-rules/{id}',
    group: 'Notifications',
    operationId: 'getNotificationRule',
    summary: 'One rule.',
    params: byId,
    answers: { 200: oneRule },
    problems: ['not-found'],
    async handle({ params }, { access }) {
      return ruleReply(200, { rule: await access.notifications.rule(params.id), webhookSecret: null });
    },
  }),
  route({
    method: 'patch',
    path: '/api/v1/notification-rules/{id}',
    group: 'Notifications',
    operationId: 'changeNotificationRule',
    summary: 'Change a rule (JSON merge patch).',
    description:
      '`days` and `hours` are given as a whole. A webhook keeps its secret unless another is given. A rule that rests because what it named was deleted is switched on again with `active`.',
    params: byId,
    body: z
      .strictObject({
        name,
        active,
        eventKinds,
        phases,
        vehicleIds,
        groupIds,
        geofenceIds,
        days,
        hours,
        timeZone,
        minIntervalMinutes,
        maxDataAgeMinutes,
        emails,
        webhook: webhookIn,
      })
      .partial()
      .meta({ id: 'NotificationRulePatch', examples: [{ active: false }] }),
    conditional: true,
    answers: { 200: ruleAsSet },
    problems: ['not-found', 'conflict', 'stale'],
    async handle({ params, body }, { access, ifMatch }) {
      const changed = await access.notifications.changeRule(params.id, ifMatch, (current) => {
        const given = <T>(value: T | undefined, now: T): T => (value === undefined ? now : value);
        return {
          name: body.name ?? current.name,
          active: body.active ?? current.active,
          eventKinds: body.eventKinds ?? current.eventKinds,
          phases: body.phases ?? current.phases,
          vehicleIds: given<NotificationRule['vehicleIds']>(body.vehicleIds, current.vehicleIds),
          groupIds: given<NotificationRule['groupIds']>(body.groupIds, current.groupIds),
          geofenceIds: given<NotificationRule['geofenceIds']>(body.geofenceIds, current.geofenceIds),
          days: given<RuleDays>(body.days, current.days),
          hours: given(body.hours, current.hours),
          timeZone: body.timeZone ?? current.timeZone,
          minIntervalMinutes: body.minIntervalMinutes ?? current.minIntervalMinutes,
          maxDataAgeMinutes: given(body.maxDataAgeMinutes, current.maxDataAgeMinutes),
          emails: body.emails ?? current.emails,
          webhookUrl: body.webhook === undefined ? current.webhookUrl : (body.webhook?.url ?? null),
          webhookSecret: body.webhook?.secret,
        };
      });
      return ruleReply(200, changed);
    },
  }),
  route({
    method: 'delete',
    path: '/api/v1/notification-rules/{id}',
    group: 'Notifications',
    operationId: 'deleteNotificationRule',
    summary: 'Delete a rule; its notifications stay in the inbox.',
    params: byId,
    conditional: true,
    answers: { 204: { description: 'Deleted.' } },
    problems: ['not-found', 'stale'],
    async handle({ params }, { access, ifMatch }) {
      await access.notifications.removeRule(params.id, ifMatch);
      return { status: 204 };
    },
  }),
  route({
    method: 'post',
    path: '/api/v1/notification-rules/{id}/test',
    group: 'Notifications',
    operationId: 'testNotificationRule',
    summary: 'Which events of the last week the rule would have notified of, and why not the others.',
    description:
      'The rule is taken as active, and rights as they are now. When data arrived is not looked at: `maxDataAgeMinutes` keeps nothing back here.',
    params: byId,
    answers: { 200: { description: 'Events that it would have notified of.', body: TrialOut } },
    problems: ['not-found'],
    async handle({ params }, { access, nowMs }) {
      const { fromMs, toMs, examined, complete, matched, notMatched } = await access.notifications.tryRule(
        params.id,
        nowMs,
      );
      return {
        status: 200,
        body: {
          from: isoTime(fromMs),
          to: isoTime(toMs),
          examined,
          complete,
          matched: matched.map(eventJson),
          notMatched: notMatched.map(({ reason, count, examples }) => ({
            reason,
            count,
            examples: examples.map(eventJson),
          })),
        },
      };
    },
  }),
  route({
    method: 'get',
    path: '/api/v1/notifications',
    group: 'Notifications',
    operationId: 'listNotifications',
    summary: 'Notifications of the caller, the newest first.',
    description: 'About what the caller may see now: a page may hold less than its limit.',
    query: z.object({
      ...paging,
      ...timeRange,
      unread: z
        .enum(['true', 'false'])
        .optional()
        .meta({ description: 'Only what is not read, or only what is.', examples: ['true'] }),
    }),
    answers: {
      200: {
        description: 'A page.',
        body: z
          .strictObject({ ...listOf(NotificationOut).shape, unreadCount: z.int() })
          .meta({ examples: [{ items: [NOTIFICATION_EXAMPLE], nextCursor: null, unreadCount: 1 }] }),
      },
    },
    async handle({ query }, { access }) {
      const { items, next, unreadCount } = await access.notifications.inbox(
        { ...rangeOf(query), ...(query.unread === undefined ? {} : { unread: query.unread === 'true' }) },
        { limit: query.limit, after: readCursor(numberCursor, query.cursor) },
      );
      const nextCursor = next === null ? null : writeCursor(next);
      return { status: 200, body: { items: items.map(notificationJson), nextCursor, unreadCount } };
    },
  }),
  route({
    method: 'post',
    path: '/api/v1/notifications/{id}/read',
    group: 'Notifications',
    operationId: 'readNotification',
    summary: 'Note that a notification was read.',
    params: z.object({ id: id<NotificationId>() }),
    answers: { 200: { description: 'The notification; when it was read first, stays.', body: NotificationOut } },
    problems: ['not-found'],
    async handle({ params }, { access }) {
      return { status: 200, body: notificationJson(await access.notifications.markRead(params.id)) };
    },
  }),
  route({
    method: 'post',
    path: '/api/v1/notifications/read-all',
    group: 'Notifications',
    operationId: 'readAllNotifications',
    summary: 'Note that all notifications were read.',
    query: z.object({
      upTo: z.coerce
        .number({ error: 'It must be a whole number.' })
        .int()
        .min(1)
        .max(Number.MAX_SAFE_INTEGER)
        .optional()
        .meta({ description: '`number` of the newest that was seen: what came since stays unread.', examples: [77] }),
    }),
    answers: {
      200: {
        description: 'How many were unread.',
        body: z.strictObject({ marked: z.int() }).meta({ id: 'NotificationsMarked', examples: [{ marked: 3 }] }),
      },
    },
    async handle({ query }, { access }) {
      return { status: 200, body: { marked: await access.notifications.markAllRead(query.upTo ?? null) } };
    },
  }),
  route({
    method: 'get',
    path: '/api/v1/webhook-deliveries',
    group: 'Notifications',
    operationId: 'listWebhookDeliveries',
    summary: 'How the caller’s notifications were delivered, the newest first.',
    description: 'A delivery that fails for now is tried again, later and later, for a day.',
    query: z.object({
      ...paging,
      ...timeRange,
      channel: z
        .enum(['webhook', 'email', 'any'])
        .default('webhook')
        .meta({ description: 'Webhooks, e-mails, or both.', examples: ['webhook'] }),
      state: z
        .enum(DELIVERY_STATES)
        .optional()
        .meta({ description: 'Only those.', examples: ['failed'] }),
      ruleId: id<NotificationRuleId>().optional().meta({ description: 'Only of this rule.' }),
    }),
    answers: { 200: { description: 'A page.', body: listOf(DeliveryOut) } },
    async handle({ query }, { access }) {
      const { channel, state, ruleId } = query;
      const page = await access.notifications.deliveries(
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
  route({
    method: 'post',
    path: '/api/v1/webhook-deliveries/{id}/resend',
    group: 'Notifications',
    operationId: 'resendWebhookDelivery',
    summary: 'Send a delivery again, now and for as long as a new one.',
    description: 'One that is under way at this moment stays as it is.',
    params: z.object({ id: id<DeliveryId>() }),
    answers: { 202: { description: 'It will be sent.', body: DeliveryOut } },
    problems: ['not-found'],
    async handle({ params }, { access }) {
      return { status: 202, body: deliveryBody(await access.notifications.resend(params.id)) };
    },
  }),
];
