import {
  CHANNEL_DESCRIPTIONS,
  type ChannelKind,
  type ChannelSetting,
  MESSAGE_CHANNEL_KINDS,
  MESSAGE_CHANNELS,
  type MessageChannelKind,
} from '@outrider/channels';
import { isoTime } from '@outrider/domain';
import type { ChannelTest, MessageChannel } from '@outrider/registry';
import { DELIVERY_STATES } from '@outrider/registry';
import { z } from 'zod';
import { id, idOut, line, listOf, pageReply, timeOut } from '../../fields/fields.ts';
import { callsOf, type Route } from '../../route.ts';

const { get, post, patch, remove } = callsOf('Notifications');

const secret = z.string().max(1000).meta({ description: 'Stored encrypted and never shown.' });
const name = line(100);

/** The schema of a setting's value, without its default and its description. */
function storedOf(setting: ChannelSetting): z.ZodType {
  if (setting.type === 'choice') return z.enum(setting.values);
  if (setting.type === 'text') return setting.maxChars === undefined ? z.string() : z.string().max(setting.maxChars);
  const header = z.strictObject({ name: z.string().max(64), value: z.string().max(1000) });
  return z.array(header).max(setting.maxHeaders);
}

/** Schema of the same value in a response, without bounds. */
function shownOf(setting: ChannelSetting): z.ZodType {
  if (setting.type === 'choice') return z.enum(setting.values);
  return setting.type === 'text' ? z.string() : z.array(z.strictObject({ name: z.string(), value: z.string() }));
}

const defaultOf = (setting: ChannelSetting) => (setting.type === 'headers' ? [] : setting.default);
const documented = (schema: z.ZodType, { doc }: ChannelSetting) =>
  doc === undefined ? schema : schema.meta({ description: doc });

/** Schemas of the settings of a kind: for creation, for changes, and in responses. */
function schemasOf({ schemaName, example, settings }: ChannelKind<object>) {
  const all = Object.entries<ChannelSetting>(settings);
  const made = (of: (setting: ChannelSetting) => z.ZodType) =>
    Object.fromEntries(all.map(([key, setting]) => [key, of(setting)]));
  const given = made((setting) => {
    const standard = defaultOf(setting);
    return documented(standard === undefined ? storedOf(setting) : storedOf(setting).default(standard), setting);
  });
  const hasDefaults = all.some(([, setting]) => defaultOf(setting) !== undefined);
  const named = (shape: Record<string, z.ZodType>, id: string) =>
    z.strictObject(shape).meta({ id, examples: [example] });
  const asGiven = named(given, hasDefaults ? `New${schemaName}` : schemaName);
  return {
    given: asGiven,
    changed: made((setting) =>
      defaultOf(setting) === undefined ? documented(storedOf(setting), setting) : storedOf(setting),
    ),
    shown: hasDefaults ? named(made(shownOf), schemaName) : asGiven,
  };
}

const KINDS = CHANNEL_DESCRIPTIONS.map(([kind, description]) => ({
  kind,
  ...description,
  ...schemasOf(description),
}));
/** Kinds of channel that users add by entering settings. */
const BY_SETTINGS = KINDS.filter(({ add }) => add !== null);
const NEW_CHANNELS = BY_SETTINGS.map((kind) =>
  z.strictObject({
    kind: z.literal(kind.kind as Exclude<MessageChannelKind, 'web-push'>),
    name,
    settings: kind.given,
    secret: secretOf(kind.secret),
  }),
);

function secretOf({ doc, isRequired }: ChannelKind<object>['secret']): z.ZodType<string | null> {
  const stored = doc === undefined ? secret : secret.meta({ description: `${doc} ${secret.description}` });
  return isRequired ? stored : stored.nullable().default(null);
}

const Subscription = z
  .strictObject({
    endpoint: z.string().max(2048),
    keys: z.strictObject({ p256dh: z.string().max(100), auth: z.string().max(100) }),
  })
  .meta({
    id: 'PushSubscription',
    description: 'Result of `PushSubscription.toJSON()` in the browser. Stored encrypted and never shown.',
    examples: [
      {
        endpoint: 'https://updates.push.services.mozilla.com/wpush/v2/gAAAAA',
        keys: {
          p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
          auth: 'BTBZMqHH6r4Tts7J_aSIgg',
        },
      },
    ],
  });

/** Settings of all kinds of channel. The channel's kind decides which of them apply. */
const SettingsPatch = z
  .strictObject(Object.assign({}, ...BY_SETTINGS.map(({ changed }) => changed)) as Record<string, z.ZodType>)
  .partial()
  .meta({ id: 'MessageChannelSettingsPatch', examples: [{ to: '+4915112345679' }] });

const NewBrowser = z.strictObject({ kind: z.literal('web-push'), name, subscription: Subscription });
type NewChannelKinds = [typeof NewBrowser, ...typeof NEW_CHANNELS];

const MessageChannelOut = z
  .strictObject({
    id: idOut,
    kind: z.enum(MESSAGE_CHANNEL_KINDS),
    name: z.string(),
    state: z.enum(['pending', 'confirmed']).meta({
      description: '`pending`: nothing but the confirmation code is sent to it until that code is confirmed.',
    }),
    settings: z.union(KINDS.map(({ shown }) => shown)),
    hasSecret: z.boolean(),
    createdAt: timeOut,
  })
  .meta({
    id: 'MessageChannel',
    examples: [
      {
        id: '01961f3d-26f0-7081-b374-afe291c063b5',
        kind: 'http',
        name: 'SMS to the foreman',
        state: 'confirmed',
        settings: MESSAGE_CHANNELS.http.example,
        hasSecret: true,
        createdAt: '2026-01-15T22:30:05.000Z',
      },
    ],
  });

const MessageChannelTestOut = z
  .strictObject({
    id: idOut,
    channel: z.string(),
    state: z.enum(DELIVERY_STATES),
    createdAt: timeOut,
    finishedAt: timeOut.nullable(),
    lastError: z.string().nullable(),
    responseStatus: z.int().nullable(),
  })
  .meta({
    id: 'MessageChannelTest',
    examples: [
      {
        id: '01961f3d-15e0-7f70-a263-9ed180bf52a4',
        channel: 'telegram',
        state: 'delivered',
        createdAt: '2026-01-15T22:31:00.000Z',
        finishedAt: '2026-01-15T22:31:01.000Z',
        lastError: null,
        responseStatus: 200,
      },
    ],
  });

const byId = z.object({ id: id() });

function channelBody({ userId: _, endpoint: __, createdAtMs, ...shown }: MessageChannel): unknown {
  return { ...shown, createdAt: isoTime(createdAtMs) };
}

function testBody({ id, channel, state, createdAtMs, finishedAtMs, lastError, responseStatus }: ChannelTest): unknown {
  const finishedAt = finishedAtMs === null ? null : isoTime(finishedAtMs);
  return { id, channel, state, createdAt: isoTime(createdAtMs), finishedAt, lastError, responseStatus };
}

export const messageChannelRoutes: Route[] = [
  get('/api/v1/me/message-channels', {
    operationId: 'listMessageChannels',
    summary: 'List the message channels of the caller: chats, HTTP calls and browsers.',
    answers: { 200: { description: 'All message channels of the account.', body: listOf(MessageChannelOut) } },
    async handle(_, { access }) {
      return pageReply({ items: await access.messageChannels.list(), next: null }, channelBody);
    },
  }),
  post('/api/v1/me/message-channels', {
    operationId: 'addMessageChannel',
    summary: `Add ${new Intl.ListFormat('en', { type: 'disjunction' }).format(KINDS.map(({ about }) => about))}.`,
    description:
      'Rules select chats and calls by `channelIds`, and all browsers of their owner by `push`. A chat gets no notifications until it is confirmed: send a test, which sends a code to the chat, and confirm the channel with that code. A browser belongs to one account: adding it removes it from any other account.',
    body: z.discriminatedUnion('kind', [...NEW_CHANNELS, NewBrowser] as unknown as NewChannelKinds).meta({
      id: 'NewMessageChannel',
      examples: [
        {
          kind: 'http',
          name: 'SMS to the foreman',
          settings: MESSAGE_CHANNELS.http.example,
          secret: 'a key of the gateway',
        },
      ],
    }),
    answers: { 201: { description: 'The new message channel.', body: MessageChannelOut } },
    problems: ['conflict'],
    async handle({ body }, { access }) {
      const { messageChannels } = access;
      const added =
        body.kind === 'web-push'
          ? await messageChannels.addBrowser(body.name, body.subscription)
          : await messageChannels.add(body);
      const location = `/api/v1/me/message-channels/${added.id}`;
      return { status: 201, body: channelBody(added), headers: { location } };
    },
  }),
  get('/api/v1/me/push-key', {
    operationId: 'getPushKey',
    summary: 'Get the key with which a browser subscribes to push messages.',
    answers: {
      200: {
        description: 'The public key of the service (VAPID), in base64url.',
        body: z.strictObject({ publicKey: z.string() }).meta({
          id: 'PushKey',
          examples: [
            {
              publicKey: 'BNbxGYNMhEIi9zrneh7mqV4oUanjLUK3m-mYZBc62frMKrEoMk88r3Lk596T0ck9xlT-aok0fO1KXBLV4-XqxYM',
            },
          ],
        }),
      },
    },
    async handle(_, { access }) {
      return { status: 200, body: { publicKey: await access.messageChannels.pushKey() } };
    },
  }),
  get('/api/v1/me/message-channels/{id}', {
    operationId: 'getMessageChannel',
    summary: 'Get a message channel.',
    params: byId,
    answers: { 200: { description: 'The message channel, with its state.', body: MessageChannelOut } },
    problems: ['not-found'],
    async handle({ params }, { access }) {
      return { status: 200, body: channelBody(await access.messageChannels.get(params.id)) };
    },
  }),
  patch('/api/v1/me/message-channels/{id}', {
    operationId: 'changeMessageChannel',
    summary: 'Change a message channel (JSON merge patch).',
    description:
      'Settings that are left out are kept, and so is the secret. A chat must be confirmed again if its settings change or a `secret` is given.',
    params: byId,
    body: z
      .strictObject({ name, settings: SettingsPatch, secret: secret.nullable() })
      .partial()
      .meta({ id: 'MessageChannelPatch', examples: [{ name: 'SMS to the night shift' }] }),
    answers: { 200: { description: 'The message channel after the change.', body: MessageChannelOut } },
    problems: ['not-found'],
    async handle({ params, body }, { access }) {
      const changed = await access.messageChannels.change(params.id, (current) => ({
        name: body.name ?? current.name,
        settings: { ...current.settings, ...body.settings },
        secret: body.secret,
      }));
      return { status: 200, body: channelBody(changed) };
    },
  }),
  remove('/api/v1/me/message-channels/{id}', {
    operationId: 'deleteMessageChannel',
    summary: 'Delete a message channel, also from the rules that use it.',
    params: byId,
    answers: { 204: { description: 'The message channel is deleted.' } },
    problems: ['not-found'],
    async handle({ params }, { access }) {
      await access.messageChannels.remove(params.id);
      return { status: 204 };
    },
  }),
  post('/api/v1/me/message-channels/{id}/confirm', {
    operationId: 'confirmMessageChannel',
    summary: 'Confirm a chat with the code that was sent to it.',
    params: byId,
    body: z
      .strictObject({ code: z.string().regex(/^\d{6}$/, 'It must have 6 digits.') })
      .meta({ id: 'MessageChannelCode', examples: [{ code: '123456' }] }),
    answers: { 200: { description: 'The message channel, which is now confirmed.', body: MessageChannelOut } },
    problems: ['not-found'],
    async handle({ params, body }, { access }) {
      return { status: 200, body: channelBody(await access.messageChannels.confirm(params.id, body.code)) };
    },
  }),
  post('/api/v1/me/message-channels/{id}/tests', {
    operationId: 'addMessageChannelTest',
    summary: 'Send a test message over a channel, or its code if it is not confirmed.',
    description:
      'The message is sent once, within seconds. An account can send 5 tests a minute. A code is valid for an hour.',
    params: byId,
    answers: { 202: { description: 'The message is queued.', body: MessageChannelTestOut } },
    problems: ['not-found', 'too-many-requests'],
    async handle({ params }, { access }) {
      return { status: 202, body: testBody(await access.messageChannels.test(params.id)) };
    },
  }),
  get('/api/v1/me/message-channels/{id}/tests', {
    operationId: 'listMessageChannelTests',
    summary: 'List the test messages of the last hour with their results, newest first; at most 100.',
    params: byId,
    answers: {
      200: { description: 'The newest tests, with their results.', body: listOf(MessageChannelTestOut) },
    },
    problems: ['not-found'],
    async handle({ params }, { access }) {
      return pageReply({ items: await access.messageChannels.tests(params.id), next: null }, testBody);
    },
  }),
];
