import { EVENT_KINDS, type GroupId, isoTime, type VehicleId } from '@outrider/domain';
import {
  DESTINATION_KINDS,
  type DestinationKindName,
  MAX_AUTHORITIES_CHARACTERS,
  MAX_HEADERS,
  SASL_MECHANISMS,
} from '@outrider/forwarding';
import { type ForwardingDestination, type ForwardingFilter, MAX_DESTINATIONS_PER_USER } from '@outrider/registry';
import { z } from 'zod';
import { id, idOut, line, pageAsked, paging, timeIn, timeOut } from '../../fields/fields.ts';
import { ResourceRoutes } from '../../resource-routes.ts';
import { callsOf, type Route } from '../../route.ts';

const { post } = callsOf('Feeds');

const MAX_NAMED = 1000;
/** Longest interval at which a forwarder saves its progress. */
const SAVED_WITHIN_MS = 30_000;

const HTTP_EXAMPLE = { url: 'https://erp.example.com/outrider' };
const url = z.string().max(2048);
const host = z.string().min(1).max(253).meta({ description: 'Host name or IP address.' });
const port = z.int().min(1).max(65_535);
const login = z.string().min(1).max(200).nullable();
const prefix = z.string().min(1).max(200);
const brokers = z
  .array(z.string().max(300))
  .min(1)
  .max(20)
  .meta({ description: '`host:port` of one or more brokers of the cluster.' });
const topic = z
  .string()
  .max(249)
  .meta({ description: 'Topic to which the messages are written. It must exist already.' });
const mechanism = z.enum(SASL_MECHANISMS).nullable();
const headers = z.record(z.string().max(64), z.string().max(2000)).meta({
  description: `Additional HTTP headers, such as \`X-Tenant\`: at most ${MAX_HEADERS}, including those in \`secretHeaders\`. Headers that the service sets itself, such as \`Host\`, \`Content-…\` and \`Webhook-…\`, are not allowed. Answers show these headers, so put keys in \`secretHeaders\`.`,
});
const ca = z.string().max(MAX_AUTHORITIES_CHARACTERS).nullable().meta({
  description:
    'Certificates of certificate authorities in PEM, at most 10, by which the certificate of the receiving system is verified. Null for the generally trusted authorities. Only with TLS.',
});
const dispatcherId = z
  .int()
  .min(1)
  .max(0xffffffff)
  .meta({ description: 'Number of this platform, as assigned by the receiving platform.' });
const HTTP_TEXT = 'Batches of up to 200 items by POST, signed like webhooks. Any 2xx status confirms a batch.';
const MQTT_TEXT =
  'JSON with QoS 1 to the topics `position` (retained), `late-position` and `event` below ' +
  '`{topicPrefix}/vehicles/{vehicleId}/`. With `homeAssistant`, vehicles appear in Home Assistant by its MQTT discovery.';
const KAFKA_TEXT = 'JSON messages with the id of the vehicle as key. All in-sync replicas have to confirm them.';
const WIALON_TEXT = 'Wialon IPS 2.0. Each terminal has a connection of its own and logs in with its own number.';
const EGTS_TEXT =
  'EGTS from platform to platform. The object id is the number of the terminal; of a number beyond 32 bits, such as ' +
  'an IMEI, its last eight digits.';

const HttpSettings = z
  .strictObject({ url, headers: headers.default({}), ca: ca.default(null) })
  .meta({ id: 'NewHttpDestinationSettings', description: HTTP_TEXT, examples: [HTTP_EXAMPLE] });
const MqttSettings = z
  .strictObject({
    host,
    port: port.default(1883),
    tls: z.boolean().default(false),
    username: login.default(null),
    topicPrefix: prefix.default('outrider'),
    homeAssistant: z.boolean().default(false),
    discoveryPrefix: prefix.default('homeassistant'),
    ca: ca.default(null),
  })
  .meta({
    id: 'NewMqttDestinationSettings',
    description: MQTT_TEXT,
    examples: [{ host: 'mqtt.example.com', port: 8883, tls: true, username: 'outrider', homeAssistant: true }],
  });
const KafkaSettings = z
  .strictObject({
    brokers,
    topic,
    tls: z.boolean().default(false),
    mechanism: mechanism.default(null),
    username: login.default(null),
    ca: ca.default(null),
  })
  .meta({
    id: 'NewKafkaDestinationSettings',
    description: KAFKA_TEXT,
    examples: [{ brokers: ['kafka.example.com:9092'], topic: 'fleet' }],
  });
const WialonSettings = z.strictObject({ host, port: port.default(20332), tls: z.boolean().default(false) }).meta({
  id: 'NewWialonIpsDestinationSettings',
  description: WIALON_TEXT,
  examples: [{ host: 'wialon.example.com' }],
});
const EgtsSettings = z
  .strictObject({ host, port, tls: z.boolean().default(false), dispatcherId, username: login.default(null) })
  .meta({
    id: 'NewEgtsDestinationSettings',
    description: EGTS_TEXT,
    examples: [{ host: 'egts.example.com', port: 20629, dispatcherId: 42 }],
  });

/** Settings of all kinds of destination. The destination's kind decides which of them apply. */
const SettingsPatch = z
  .strictObject({
    url,
    host,
    port,
    tls: z.boolean(),
    username: login,
    topicPrefix: prefix,
    homeAssistant: z.boolean(),
    discoveryPrefix: prefix,
    brokers,
    topic,
    mechanism,
    dispatcherId,
    headers,
    ca,
  })
  .partial()
  .meta({ id: 'ForwardingSettingsPatch', examples: [{ url: 'https://erp.example.com/fleet' }] });
const SettingsOut = z
  .strictObject(SettingsPatch.shape)
  .partial()
  .meta({
    id: 'ForwardingSettings',
    description: 'Settings of the destination. Which are present depends on its kind.',
    examples: [HTTP_EXAMPLE],
  });

const named = <Id extends string>() =>
  z
    .array(id<Id>())
    .min(1, 'It must have at least one entry. Use null for all.')
    .max(MAX_NAMED)
    .transform((ids) => [...new Set(ids)])
    .nullable();
const FILTER_TEXT =
  'Selects the forwarded data from what the owner may see at that time: the data of the vehicles in `vehicleIds` and in `groupIds`, or of all vehicles if both are null.';
const filterFields = {
  vehicleIds: named<VehicleId>(),
  groupIds: named<GroupId>(),
  positions: z.boolean(),
  events: z.boolean().meta({
    description: 'Whether to forward events, live and recalculated ones. Not possible with `wialon-ips` and `egts`.',
  }),
  eventKinds: z
    .array(z.enum(EVENT_KINDS))
    .min(1, 'It must have at least one kind. Use null for all.')
    .transform((kinds) => [...new Set(kinds)])
    .nullable()
    .meta({ description: 'Only events of these kinds. Null for all kinds.' }),
};
const Filter = z
  .strictObject({
    vehicleIds: filterFields.vehicleIds.default(null),
    groupIds: filterFields.groupIds.default(null),
    positions: filterFields.positions.default(true),
    events: filterFields.events.default(false),
    eventKinds: filterFields.eventKinds.default(null),
  })
  .meta({ id: 'NewForwardingFilter', description: FILTER_TEXT, examples: [{ positions: true, events: true }] });
const FilterPatch = z
  .strictObject(filterFields)
  .partial()
  .meta({ id: 'ForwardingFilterPatch', examples: [{ events: true, eventKinds: ['trip'] }] });
const FILTER_EXAMPLE = { vehicleIds: null, groupIds: null, positions: true, events: true, eventKinds: null };
const FilterOut = z
  .strictObject({
    vehicleIds: z.array(idOut).nullable(),
    groupIds: z.array(idOut).nullable(),
    positions: z.boolean(),
    events: z.boolean(),
    eventKinds: z.array(z.enum(EVENT_KINDS)).nullable(),
  })
  .meta({ id: 'ForwardingFilter', description: FILTER_TEXT, examples: [FILTER_EXAMPLE] });

const secret = z
  .string()
  .max(1000)
  .nullable()
  .meta({
    description:
      'For `http`: the secret that signs batches, `whsec_` followed by 24 to 64 bytes in base64. For other kinds: the ' +
      'password, if there is one. Stored encrypted and never shown.',
  });
const secretHeaders = z.record(z.string().max(64), z.string().max(2000)).meta({
  description:
    'For `http`: additional headers as in its settings, such as `Authorization`, whose values are stored encrypted and never shown.',
});
const secretHeadersPatch = z.record(z.string().max(64), z.string().max(2000).nullable()).meta({
  description: 'Headers that are left out are kept; null removes a header.',
});
const name = line(100);
const active = z
  .boolean()
  .meta({ description: 'False pauses the destination. It continues where it stopped once this is true again.' });
const common = {
  name,
  secret: secret.default(null),
  secretHeaders: secretHeaders.default({}),
  filter: Filter.prefault({}),
  active: active.default(true),
};
const NewDestination = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('http'), settings: HttpSettings, ...common }),
    z.strictObject({ kind: z.literal('mqtt'), settings: MqttSettings, ...common }),
    z.strictObject({ kind: z.literal('kafka'), settings: KafkaSettings, ...common }),
    z.strictObject({ kind: z.literal('wialon-ips'), settings: WialonSettings, ...common }),
    z.strictObject({ kind: z.literal('egts'), settings: EgtsSettings, ...common }),
  ])
  .meta({
    id: 'NewForwardingDestination',
    examples: [
      {
        kind: 'http',
        name: 'ERP',
        settings: HTTP_EXAMPLE,
        secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
        filter: { positions: true, events: true },
      } as never,
    ],
  });

const PROGRESS_EXAMPLE = {
  state: 'running' as const,
  forwardedUntil: '2026-01-15T22:30:05.000Z',
  lagSeconds: 0.2,
  lastSuccessAt: '2026-01-15T22:30:05.200Z',
  lastError: null,
  lastErrorAt: null,
  failures: 0,
  nextAttemptAt: null,
  positionsSent: 18_022,
  eventsSent: 210,
  refused: 0,
  lastRefusal: null,
  gap: null,
};
const StateOut = z
  .strictObject({
    state: z.enum(['running', 'waiting', 'retrying', 'paused']).meta({
      description:
        '`running`: a forwarder is working on it. `waiting`: no forwarder has started on it yet. `retrying`: the receiving system did not accept a batch, which is sent again at `nextAttemptAt`. `paused`: it is not active.',
    }),
    forwardedUntil: timeOut.nullable().meta({
      description:
        'Everything that was written to the log until this time was forwarded. Null if forwarding has not begun.',
    }),
    lagSeconds: z.number().nullable().meta({
      description:
        'Age of the oldest record of the log that was not forwarded yet, in seconds; an upper bound while the state is not `running`. Null if forwarding has not begun.',
    }),
    lastSuccessAt: timeOut.nullable(),
    lastError: z.string().nullable().meta({ description: 'Error of the last attempt. Null after a success.' }),
    lastErrorAt: timeOut.nullable(),
    failures: z.int().meta({ description: 'Number of failed attempts since the last success.' }),
    nextAttemptAt: timeOut.nullable().meta({ description: 'Null if no further attempt is planned.' }),
    positionsSent: z.int(),
    eventsSent: z.int(),
    refused: z.int().meta({
      description: 'Number of individual items that the receiving system refused, or that its protocol cannot carry.',
    }),
    lastRefusal: z.string().nullable(),
    gap: z.strictObject({ from: timeOut, to: timeOut, noticedAt: timeOut }).nullable().meta({
      description:
        'Time range that was not forwarded completely because its records were no longer in the log, by the time at which they were written to it. Null if nothing was missed.',
    }),
  })
  .meta({
    id: 'ForwardingState',
    examples: [PROGRESS_EXAMPLE],
  });
const DestinationOut = z
  .strictObject({
    id: idOut,
    ownerId: idOut.meta({ description: 'Account whose rights decide what is forwarded.' }),
    name: z.string(),
    kind: z.enum(DESTINATION_KINDS as [DestinationKindName, ...DestinationKindName[]]),
    settings: SettingsOut,
    hasSecret: z.boolean(),
    secretHeaderNames: z.array(z.string()).meta({ description: 'Names of `secretHeaders`.' }),
    filter: FilterOut,
    active: z.boolean(),
    createdAt: timeOut,
    progress: StateOut,
  })
  .meta({
    id: 'ForwardingDestination',
    examples: [
      {
        id: '01961f3d-26f0-7081-b374-afe291c063b5',
        ownerId: '01961f3c-9c32-7e5a-9d3f-4b8c2e6a0f79',
        name: 'ERP',
        kind: 'http' as const,
        settings: HTTP_EXAMPLE,
        hasSecret: true,
        secretHeaderNames: [],
        filter: FILTER_EXAMPLE,
        active: true,
        createdAt: '2026-01-15T22:00:00.000Z',
        progress: PROGRESS_EXAMPLE,
      },
    ],
  });

const timeOf = (ms: number | null) => (ms === null ? null : isoTime(ms));

function stateOf({ active: isActive, failures, isLeased }: ForwardingDestination) {
  if (!isActive) return 'paused';
  return failures > 0 ? 'retrying' : isLeased ? 'running' : 'waiting';
}

function lagSecondsOf(destination: ForwardingDestination, nowMs: number): number | null {
  const { reachedAtMs, savedAtMs } = destination;
  if (reachedAtMs === null) return null;
  const isFresh = stateOf(destination) === 'running' && savedAtMs !== null && nowMs - savedAtMs < SAVED_WITHIN_MS;
  return Math.max(0, (isFresh ? savedAtMs : nowMs) - reachedAtMs) / 1000;
}

function destinationBody(destination: ForwardingDestination, nowMs: number): z.output<typeof DestinationOut> {
  const { gap, failures, filter } = destination;
  const state = stateOf(destination);
  return {
    id: destination.id,
    ownerId: destination.ownerId,
    name: destination.name,
    kind: destination.kind as DestinationKindName,
    settings: destination.settings,
    hasSecret: destination.hasSecret,
    secretHeaderNames: [...destination.secretHeaderNames],
    filter: filter as z.output<typeof FilterOut>,
    active: destination.active,
    createdAt: isoTime(destination.createdAtMs),
    progress: {
      state,
      forwardedUntil: timeOf(destination.reachedAtMs),
      lagSeconds: lagSecondsOf(destination, nowMs),
      lastSuccessAt: timeOf(destination.lastSuccessAtMs),
      lastError: destination.lastError,
      lastErrorAt: timeOf(destination.lastErrorAtMs),
      failures,
      nextAttemptAt: state === 'retrying' ? isoTime(destination.nextAttemptAtMs) : null,
      positionsSent: destination.positionsSent,
      eventsSent: destination.eventsSent,
      refused: destination.refused,
      lastRefusal: destination.lastRefusal,
      gap: gap && { from: isoTime(gap.fromMs), to: isoTime(gap.toMs), noticedAt: isoTime(gap.noticedAtMs) },
    },
  };
}

const byId = z.object({ id: id() });
const destinations = new ResourceRoutes({
  group: 'Feeds',
  path: '/api/v1/forwarding-destinations',
  operations: ['ForwardingDestination', 'ForwardingDestinations'],
  noun: 'forwarding destination',
  params: byId,
  body: DestinationOut,
  show: (destination: ForwardingDestination, { nowMs }) => destinationBody(destination, nowMs),
  entityOf: (destination) => destination,
});

/** Applies the given fields of a patch to the existing settings. */
function patched<T extends object>(present: T, patch: Partial<Record<keyof T, unknown>> | undefined): T {
  const given = Object.entries(patch ?? {}).filter(([, value]) => value !== undefined);
  return { ...present, ...Object.fromEntries(given) };
}

export const forwardingRoutes: Route[] = [
  destinations.list({
    summary: 'List forwarding destinations, with their progress.',
    description: 'Dealers see their own destinations, operators all. Users cannot have any.',
    query: z.object(paging),
    problems: ['forbidden'],
    page: (query, { access }) => access.forwarding.list(pageAsked(query)),
  }),
  destinations.add({
    summary: 'Forward positions and events to another system.',
    description:
      'Forwards data by signed HTTP calls, MQTT, Kafka, Wialon IPS or EGTS, beginning with what arrives from now on. ' +
      'Only what the owner may see at that time is forwarded: at least once, and for each vehicle in the order of the ' +
      'log. Nothing is skipped while the receiving system is down: it is tried again after 1 s, 2 s, 4 s, … up to ' +
      `5 minutes. A dealer or operator can have at most ${MAX_DESTINATIONS_PER_USER} destinations.`,
    body: NewDestination,
    problems: ['forbidden', 'conflict'],
    add: (body, { access }) => access.forwarding.add({ ...body, filter: body.filter satisfies ForwardingFilter }),
  }),
  destinations.get({
    summary: 'Get a forwarding destination, with its progress.',
    problems: ['forbidden'],
    get: ({ id }, { access }) => access.forwarding.get(id),
  }),
  destinations.change({
    summary: 'Change, pause or resume a forwarding destination (JSON merge patch).',
    description:
      'The change applies within seconds. Fields that are left out are kept, also within `settings` and `filter`. With other settings, forwarding continues where it was. Positions or events that were not forwarded before are forwarded from now on.',
    body: z
      .strictObject({
        ...{ name, settings: SettingsPatch, secret, secretHeaders: secretHeadersPatch, filter: FilterPatch, active },
      })
      .partial()
      .meta({ id: 'ForwardingDestinationPatch', examples: [{ active: false }] }),
    problems: ['forbidden'],
    change: ({ id }, body, { access, ifMatch }) =>
      access.forwarding.change(id, ifMatch, (present) => ({
        name: body.name ?? present.name,
        settings: patched(present.settings, body.settings),
        secret: body.secret,
        secretHeaders: body.secretHeaders ?? {},
        filter: patched(present.filter, body.filter),
        active: body.active ?? present.active,
      })),
  }),
  destinations.remove({
    summary: 'Delete a forwarding destination and its progress.',
    problems: ['forbidden'],
    remove: ({ id }, { access, ifMatch }) => access.forwarding.remove(id, ifMatch),
  }),
  post('/api/v1/forwarding-destinations/{id}/replay', {
    operationId: 'replayForwardingDestination',
    summary: 'Forward again what was written to the log from a given time on.',
    description:
      'Forwarding continues from the records that arrived at the service at `from`, not from where the destination was. Records that are no longer in the log are reported in `gap`.',
    params: byId,
    body: z
      .strictObject({ from: timeIn })
      .meta({ id: 'ForwardingReplay', examples: [{ from: '2026-01-15T12:00:00.000Z' } as never] }),
    answers: { 200: destinations.one },
    problems: ['forbidden', 'not-found'],
    async handle({ params, body }, context) {
      const { access } = context;
      return destinations.reply(200, await access.forwarding.replay(params.id, body.from, context.nowMs), context);
    },
  }),
  post('/api/v1/forwarding-destinations/{id}/test', {
    operationId: 'testForwardingDestination',
    summary: 'Test whether a forwarding destination accepts data.',
    description:
      'Sends `http` a batch without items, MQTT a message in `{topicPrefix}/test`, and Kafka a message of type `test`. ' +
      'With `wialon-ips` and `egts`, the test logs in. An account can run one test at a time.',
    params: byId,
    answers: {
      200: {
        description: 'Whether the destination accepted the test, and how long that took.',
        body: z
          .strictObject({
            ok: z.boolean(),
            error: z.string().nullable().meta({ description: 'Null if the test was accepted.' }),
            tookMs: z.int(),
          })
          .meta({ id: 'ForwardingTest', examples: [{ ok: true, error: null, tookMs: 84 }] }),
      },
    },
    problems: ['forbidden', 'not-found', 'too-many-requests'],
    async handle({ params }, { access }) {
      const { error, tookMs } = await access.forwarding.test(params.id);
      return { status: 200, body: { ok: error === null, error, tookMs } };
    },
  }),
];
