import { HTTP_PLACEHOLDERS } from '@outrider/channels';
import { isoTime } from '@outrider/domain';
import type { ChannelTest, MessageChannel } from '@outrider/registry';
import { DELIVERY_STATES } from '@outrider/registry';
import { z } from 'zod';
import { id, idOut, line, listOf, pageReply, timeOut } from '../fields.ts';
import { callsOf, type Route } from '../route.ts';

const { get, post, patch, remove } = callsOf('Notifications');

const TelegramSettings = z
  .strictObject({
    chatId: z.string().max(64).meta({ description: 'The number of the chat, negative for a group, or `@name`.' }),
  })
  .meta({ id: 'TelegramSettings', examples: [{ chatId: '123456789' }] });
const METHODS = ['GET', 'POST', 'PUT'] as const;
const CONTENT_TYPES = [
  'application/json',
  'application/x-www-form-urlencoded',
  'text/plain',
  'application/xml',
] as const;
const PLACEHOLDERS = HTTP_PLACEHOLDERS.map((name) => `\`{${name}}\``).join(', ');
const HTTP_EXAMPLE = {
  method: 'POST' as const,
  url: 'https://sms.example.com/send',
  headers: [{ name: 'Authorization', value: 'Bearer {secret}' }],
  contentType: 'application/json' as const,
  body: '{"to":"{to}","text":"{title}"}',
  to: '+4915112345678',
};
const HttpSettings = z
  .strictObject({
    method: z.enum(METHODS).default('POST'),
    url: z
      .string()
      .max(2048)
      .meta({ description: `Placeholders come after the host: ${PLACEHOLDERS}.` }),
    headers: z
      .array(z.strictObject({ name: z.string().max(64), value: z.string().max(1000) }))
      .max(20)
      .default([]),
    contentType: z.enum(CONTENT_TYPES).default('application/json').meta({ description: 'Values are escaped for it.' }),
    body: z.string().max(10_000).default('').meta({ description: 'Not sent with GET.' }),
    to: z.string().max(200).default('').meta({ description: 'Who gets it, such as the number of a phone.' }),
  })
  .meta({ id: 'NewHttpChannelSettings', examples: [HTTP_EXAMPLE] });
const HttpSettingsOut = z
  .strictObject({
    method: z.enum(METHODS),
    url: z.string(),
    headers: z.array(z.strictObject({ name: z.string(), value: z.string() })),
    contentType: z.enum(CONTENT_TYPES),
    body: z.string(),
    to: z.string(),
  })
  .meta({ id: 'HttpChannelSettings', examples: [HTTP_EXAMPLE] });

const WebPushSettings = z
  .strictObject({
    service: z.string().meta({ description: 'Host of the push service of the browser’s maker.' }),
    fingerprint: z.string().meta({
      description:
        'By which the browser knows itself: the first 22 characters of SHA-256 of its endpoint, in base64url.',
    }),
  })
  .meta({
    id: 'WebPushSettings',
    examples: [{ service: 'updates.push.services.mozilla.com', fingerprint: '5R3hCHkK0yXKSSDpQ2mYNA' }],
  });
const Subscription = z
  .strictObject({
    endpoint: z.string().max(2048),
    keys: z.strictObject({ p256dh: z.string().max(100), auth: z.string().max(100) }),
  })
  .meta({
    id: 'PushSubscription',
    description: 'What `PushSubscription.toJSON()` of a browser gives. Stored sealed, and never shown.',
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

/** Of either kind: which belong to the channel, its kind says. */
const SettingsPatch = z
  .strictObject({
    chatId: TelegramSettings.shape.chatId,
    method: z.enum(METHODS),
    url: HttpSettings.shape.url,
    headers: HttpSettings.shape.headers.unwrap(),
    contentType: z.enum(CONTENT_TYPES),
    body: HttpSettings.shape.body.unwrap(),
    to: HttpSettings.shape.to.unwrap(),
  })
  .partial()
  .meta({ id: 'MessageChannelSettingsPatch', examples: [{ to: '+4915112345679' }] });

const secret = z.string().max(1000).meta({ description: 'Stored sealed, and never shown.' });
const name = line(100);

const MessageChannelOut = z
  .strictObject({
    id: idOut,
    kind: z.enum(['telegram', 'http', 'web-push']),
    name: z.string(),
    state: z.enum(['pending', 'confirmed']).meta({
      description: '`pending`: it gets nothing until the code that was sent to it is confirmed.',
    }),
    settings: z.union([TelegramSettings, HttpSettingsOut, WebPushSettings]),
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
        settings: HTTP_EXAMPLE,
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
    summary: 'What the caller set up to have messages sent by, besides e-mails and webhooks.',
    answers: { 200: { description: 'All of them.', body: listOf(MessageChannelOut) } },
    async handle(_, { access }) {
      return pageReply({ items: await access.messageChannels.list(), next: null }, channelBody);
    },
  }),
  post('/api/v1/me/message-channels', {
    operationId: 'addMessageChannel',
    summary: 'Add a chat of Telegram, a call of any HTTP API such as that of an SMS gateway, or a browser.',
    description:
      'Rules name chats and calls in `channelIds`; their `push` stands for all browsers. A chat gets nothing until it is confirmed: a test sends a code to it, which is handed back. A browser has one account: it is taken from any other one.',
    body: z
      .discriminatedUnion('kind', [
        z.strictObject({
          kind: z.literal('telegram'),
          name,
          settings: TelegramSettings,
          secret: secret.meta({ description: 'Token of a bot that is in the chat. Stored sealed, and never shown.' }),
        }),
        z.strictObject({
          kind: z.literal('http'),
          name,
          settings: HttpSettings,
          secret: secret.nullable().default(null),
        }),
        z.strictObject({ kind: z.literal('web-push'), name, subscription: Subscription }),
      ])
      .meta({
        id: 'NewMessageChannel',
        examples: [
          { kind: 'http', name: 'SMS to the foreman', settings: HTTP_EXAMPLE, secret: 'a key of the gateway' },
        ],
      }),
    answers: { 201: { description: 'Added.', body: MessageChannelOut } },
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
    summary: 'What a browser subscribes to push messages with.',
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
    summary: 'One channel.',
    params: byId,
    answers: { 200: { description: 'The channel.', body: MessageChannelOut } },
    problems: ['not-found'],
    async handle({ params }, { access }) {
      return { status: 200, body: channelBody(await access.messageChannels.get(params.id)) };
    },
  }),
  patch('/api/v1/me/message-channels/{id}', {
    operationId: 'changeMessageChannel',
    summary: 'Change a channel.',
    description:
      'Settings that are left out stay. A chat that becomes another one has to be confirmed again. Without `secret`, the secret stays.',
    params: byId,
    body: z
      .strictObject({ name, settings: SettingsPatch, secret: secret.nullable() })
      .partial()
      .meta({ id: 'MessageChannelPatch', examples: [{ name: 'SMS to the night shift' }] }),
    answers: { 200: { description: 'The channel.', body: MessageChannelOut } },
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
    summary: 'Delete a channel; rules do not name it any more.',
    params: byId,
    answers: { 204: { description: 'Deleted.' } },
    problems: ['not-found'],
    async handle({ params }, { access }) {
      await access.messageChannels.remove(params.id);
      return { status: 204 };
    },
  }),
  post('/api/v1/me/message-channels/{id}/confirm', {
    operationId: 'confirmMessageChannel',
    summary: 'Hand back the code that was sent to a chat.',
    params: byId,
    body: z
      .strictObject({ code: z.string().regex(/^\d{6}$/, 'It must have 6 digits.') })
      .meta({ id: 'MessageChannelCode', examples: [{ code: '123456' }] }),
    answers: { 200: { description: 'The channel, which gets messages from now on.', body: MessageChannelOut } },
    problems: ['not-found'],
    async handle({ params, body }, { access }) {
      return { status: 200, body: channelBody(await access.messageChannels.confirm(params.id, body.code)) };
    },
  }),
  post('/api/v1/me/message-channels/{id}/tests', {
    operationId: 'addMessageChannelTest',
    summary: 'Send a message over a channel, to see whether it arrives; to one that is not confirmed, its code.',
    description: 'It is sent once, within seconds. Five a minute of each account. A code is valid for an hour.',
    params: byId,
    answers: { 202: { description: 'It will be sent.', body: MessageChannelTestOut } },
    problems: ['not-found', 'too-many-requests'],
    async handle({ params }, { access }) {
      return { status: 202, body: testBody(await access.messageChannels.test(params.id)) };
    },
  }),
  get('/api/v1/me/message-channels/{id}/tests', {
    operationId: 'listMessageChannelTests',
    summary: 'What became of the test messages of the last hour, the newest first; 100 at most.',
    params: byId,
    answers: { 200: { description: 'The tests.', body: listOf(MessageChannelTestOut) } },
    problems: ['not-found'],
    async handle({ params }, { access }) {
      return pageReply({ items: await access.messageChannels.tests(params.id), next: null }, testBody);
    },
  }),
];
