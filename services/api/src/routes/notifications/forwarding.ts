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
const host = z.string().min(1).max(253).meta({ description: 'Name or IP address.' });
const port = z.int().min(1).max(65_535);
const login = z.string().min(1).max(200).nullable();
const prefix = z.string().min(1).max(200);
const brokers = z.array(z.string().max(300)).min(1).max(20).meta({ description: '`host:port` of some brokers.' });
const topic = z.string().max(249).meta({ description: 'It must exist.' });
const mechanism = z.enum(SASL_MECHANISMS).nullable();
const headers = z.record(z.string().max(64), z.string().max(2000)).meta({
  description: `Further headers, such as \`X-Tenant\`: ${MAX_HEADERS} at most, those of \`secretHeaders\` among them. None that the service writes itself, such as \`Host\`, \`Content-…\` and \`Webhook-…\`. They are shown: keys belong into \`secretHeaders\`.`,
});
const ca = z.string().max(MAX_AUTHORITIES_CHARACTERS).nullable().meta({
  description:
    'Certificates of authorities in PEM, 10 at most, that the certificate of the receiving system is checked by. Null: those that everybody trusts. With TLS alone.',
});
const dispatcherId = z
  .int()
  .min(1)
  .max(0xffffffff)
  .meta({ description: 'The number of this platform, as the receiving one gave it.' });
const HTTP_TEXT = 'Batches of up to 200 items by POST, signed as webhooks are; any 2xx confirms.';
const MQTT_TEXT =
  'JSON to `{topicPrefix}/vehicles/{vehicleId}/position` (retained), `/late-position` and `/event`, QoS 1. With ' +
  '`homeAssistant`, vehicles appear in Home Assistant by its MQTT discovery.';
const KAFKA_TEXT = 'JSON messages, whose key is the id of the vehicle; all in-sync replicas confirm.';
const WIALON_TEXT = 'Wialon IPS 2.0: each terminal logs in by its own number, in a connection of its own.';
const EGTS_TEXT =
  'EGTS from platform to platform. The number of an object is that of its terminal, of an IMEI the last eight digits.';

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
  .meta({ id: 'ForwardingSettings', description: 'Those of its kind.', examples: [HTTP_EXAMPLE] });

const named = <Id extends string>() =>
  z
    .array(id<Id>())
    .min(1, 'Name one, or give null for all.')
    .max(MAX_NAMED)
    .transform((ids) => [...new Set(ids)])
    .nullable();
const FILTER_TEXT =
  'Of what its owner may see at that moment: these vehicles and the vehicles of these groups; all, where both are null.';
const filterFields = {
  vehicleIds: named<VehicleId>(),
  groupIds: named<GroupId>(),
  positions: z.boolean(),
  events: z.boolean().meta({ description: 'Live and recalculated ones; `wialon-ips` and `egts` carry none.' }),
  eventKinds: z
    .array(z.enum(EVENT_KINDS))
    .min(1, 'Name a kind, or give null for all.')
    .transform((kinds) => [...new Set(kinds)])
    .nullable()
    .meta({ description: 'Null: of every kind.' }),
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
      'Stored sealed, and never shown. `http`: what batches are signed with, `whsec_` and the base64 of 24 to 64 bytes. ' +
      'Others: the password, where there is one.',
  });
const secretHeaders = z.record(z.string().max(64), z.string().max(2000)).meta({
  description:
    'Of `http`: headers as in its settings, such as `Authorization`, whose values are stored sealed and never shown.',
});
const secretHeadersPatch = z.record(z.string().max(64), z.string().max(2000).nullable()).meta({
  description: 'Those that are left out stay; null takes one away.',
});
const name = line(100);
const active = z.boolean().meta({ description: 'False: it is paused, and goes on where it was.' });
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
        '`running`: a forwarder works at it. `waiting`: none has come to it yet. `retrying`: the receiving system did not take a batch, which is sent once more at `nextAttemptAt`.',
    }),
    forwardedUntil: timeOut.nullable().meta({
      description: 'All that was written to the log by then was forwarded; null: nothing was looked at yet.',
    }),
    lagSeconds: z.number().nullable().meta({
      description: 'Age of the oldest record that it has not come to. While it is not `running`, at most that.',
    }),
    lastSuccessAt: timeOut.nullable(),
    lastError: z.string().nullable().meta({ description: 'Null after a success.' }),
    lastErrorAt: timeOut.nullable(),
    failures: z.int().meta({ description: 'Attempts that failed since the last success.' }),
    nextAttemptAt: timeOut.nullable().meta({ description: 'Null: none is planned.' }),
    positionsSent: z.int(),
    eventsSent: z.int(),
    refused: z.int().meta({
      description: 'Items that the receiving system refused by themselves, or that its protocol can’t carry.',
    }),
    lastRefusal: z.string().nullable(),
    gap: z.strictObject({ from: timeOut, to: timeOut, noticedAt: timeOut }).nullable().meta({
      description: 'What was written to the log in this time was not forwarded whole: the log no longer had it.',
    }),
  })
  .meta({
    id: 'ForwardingState',
    examples: [PROGRESS_EXAMPLE],
  });
const DestinationOut = z
  .strictObject({
    id: idOut,
    ownerId: idOut.meta({ description: 'Whose rights decide what is forwarded.' }),
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
    summary: 'Systems that positions and events are forwarded to, and how far each is.',
    description: 'Dealers see their own, operators all; users have none.',
    query: z.object(paging),
    problems: ['forbidden'],
    page: (query, { access }) => access.forwarding.list(pageAsked(query)),
  }),
  destinations.add({
    summary: 'Have positions and events forwarded to another system.',
    description:
      'By signed HTTP calls, MQTT, Kafka, Wialon IPS or EGTS, beginning with what arrives from now on. What its owner may see at that ' +
      'moment is forwarded, at least once, and in the order of the log for each vehicle. While the receiving system is ' +
      'down, nothing is left out: it is tried again after 1 s, 2 s, 4 s, … up to 5 minutes. Dealers and operators have ' +
      `${MAX_DESTINATIONS_PER_USER} at most.`,
    body: NewDestination,
    problems: ['forbidden', 'conflict'],
    add: (body, { access }) => access.forwarding.add({ ...body, filter: body.filter satisfies ForwardingFilter }),
  }),
  destinations.get({
    summary: 'One forwarding destination, and how far it is.',
    problems: ['forbidden'],
    get: ({ id }, { access }) => access.forwarding.get(id),
  }),
  destinations.change({
    summary: 'Change, pause or resume a destination.',
    description:
      'It holds within seconds. What is left out stays, within settings and filter as well. With other settings it goes on where it was; positions or events that were not forwarded before begin now.',
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
    summary: 'Forward nothing more to a destination, and forget how far it was.',
    problems: ['forbidden'],
    remove: ({ id }, { access, ifMatch }) => access.forwarding.remove(id, ifMatch),
  }),
  post('/api/v1/forwarding-destinations/{id}/replay', {
    operationId: 'replayForwardingDestination',
    summary: 'Forward once more what was written to the log from a time on.',
    description:
      'By the time at which it arrived here, in place of where the destination was. What the log no longer has is named in `gap`.',
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
    summary: 'Try whether a destination takes something.',
    description:
      '`http` gets a batch without items, MQTT a message in `{topicPrefix}/test`, Kafka a message of type `test`; `wialon-ips` and ' +
      '`egts` are logged in to. One test of each account at a time.',
    params: byId,
    answers: {
      200: {
        description: 'Whether the destination took it, and how long that lasted.',
        body: z
          .strictObject({
            ok: z.boolean(),
            error: z.string().nullable().meta({ description: 'Null: it was taken.' }),
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
