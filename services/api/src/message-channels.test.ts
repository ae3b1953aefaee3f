import type { User } from '@outrider/domain';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { World } from './api.fixture.ts';

const CHANNELS = '/api/v1/me/message-channels';
const TOKEN = '123456789:AAEhBOweik6ad9r_QXMENQjcrGbqCr4K-bc';
const CHAT = { kind: 'telegram', name: 'Night shift', settings: { chatId: '-1001' }, secret: TOKEN };
const SMS = { kind: 'http', name: 'SMS', settings: { url: 'https://sms.example.com/{to}', to: '+49' }, secret: 'key' };

let world: World;
let anna: { user: User; jwt: string };
let boss: { user: User; jwt: string };

beforeEach(async () => {
  world = await World.open();
  anna = await world.member('anna', 'user');
  boss = await world.member('boss', 'operator');
});
afterEach(() => world.close());

const add = (body: unknown, as = anna) => world.call('POST', CHANNELS, { jwt: as.jwt, body });
const pointers = (answer: { body: { errors: { pointer: string }[] } }) =>
  answer.body.errors.map(({ pointer }) => pointer);

test('secrets are stored and never shown; a chat waits for its code, a call does not', async () => {
  const chat = await add(CHAT);
  expect([chat.status, chat.body.state, chat.body.hasSecret]).toEqual([201, 'pending', true]);
  const sms = await add(SMS);
  expect(sms.body).toMatchObject({ state: 'confirmed', settings: { method: 'POST', body: '', headers: [] } });
  const { body } = await world.call('GET', CHANNELS, { jwt: anna.jwt });
  expect(body.items).toEqual([chat.body, sms.body]);
  expect(JSON.stringify(body)).not.toContain(TOKEN);
  expect(await world.registry.messageChannels.secret(chat.body.id)).toBe(TOKEN);
});

test('what is wrong is said with its place', async () => {
  expect(pointers(await add({ ...CHAT, settings: { chatId: 'x y' } }))).toEqual(['/settings/chatId']);
  expect(pointers(await add({ ...CHAT, secret: 'no token' }))).toEqual(['/secret']);
  expect(pointers(await add({ ...SMS, settings: { ...SMS.settings, body: '{"a":"{vehicel}"}' } }))).toEqual([
    '/settings/body',
  ]);
  expect(pointers(await add({ ...SMS, settings: { url: 'https://127.0.0.1/' } }))).toEqual(['/settings/url']);
  expect((await add({ kind: 'pigeon', name: 'x', settings: {} })).status).toBe(400);
});

test('a change of the chat, or of the bot, has to be confirmed again; another name does not', async () => {
  const { id } = (await add(CHAT)).body;
  await world.registry.messageChannels.setCode(id, '123456', 60_000);
  const confirm = (code: string) => world.call('POST', `${CHANNELS}/${id}/confirm`, { jwt: anna.jwt, body: { code } });
  expect(pointers(await confirm('654321'))).toEqual(['/code']);
  expect((await confirm('123456')).body.state).toBe('confirmed');
  const change = (body: object) => world.call('PATCH', `${CHANNELS}/${id}`, { jwt: anna.jwt, body });
  expect((await change({ name: 'Day shift' })).body).toMatchObject({ name: 'Day shift', state: 'confirmed' });
  expect((await change({ settings: { chatId: '-1002' } })).body.state).toBe('pending');
  expect(pointers(await change({ settings: { chatId: '?' } }))).toEqual(['/settings/chatId']);
  // Settings are those of its kind.
  expect((await change({ settings: SMS.settings })).status).toBe(400);
});

test('nobody sees the channels of others, and a rule names those of its owner alone', async () => {
  const { id } = (await add(CHAT)).body;
  const as = { jwt: boss.jwt };
  expect((await world.call('GET', CHANNELS, as)).body.items).toEqual([]);
  expect((await world.call('PATCH', `${CHANNELS}/${id}`, { ...as, body: { name: 'x' } })).status).toBe(404);
  expect((await world.call('DELETE', `${CHANNELS}/${id}`, as)).status).toBe(404);
  expect((await world.call('POST', `${CHANNELS}/${id}/tests`, as)).status).toBe(404);
  const rule = { name: 'Trips', eventKinds: ['trip'], channelIds: [id] };
  const addRule = (who: { jwt: string }) =>
    world.call('POST', '/api/v1/notification-rules', { jwt: who.jwt, body: rule });
  expect(pointers(await addRule(boss))).toEqual(['/channelIds/0']);
  const made = await addRule(anna);
  expect(made.body.channelIds).toEqual([id]);
  expect((await world.call('POST', `${CHANNELS}/${id}/tests`, { jwt: anna.jwt })).status).toBe(202);
  expect((await world.call('GET', `${CHANNELS}/${id}/tests`, { jwt: anna.jwt })).body.items).toMatchObject([
    { channel: 'telegram', state: 'pending' },
  ]);
  expect((await world.call('DELETE', `${CHANNELS}/${id}`, { jwt: anna.jwt })).status).toBe(204);
  const { body } = await world.call('GET', `/api/v1/notification-rules/${made.body.id}`, { jwt: anna.jwt });
  expect(body.channelIds).toEqual([]);
});

test('the message of a rule is refused with the place of what it does not know, and shown by example', async () => {
  const rule = { name: 'Trips', eventKinds: ['trip'], messageTemplate: '{vehicle} {vehicel}' };
  const refused = await world.call('POST', '/api/v1/notification-rules', { jwt: anna.jwt, body: rule });
  expect(refused.body.errors).toMatchObject([
    { pointer: '/messageTemplate', detail: expect.stringContaining('{vehicel} (character 11)') },
  ]);
  const preview = (messageTemplate: string | null) =>
    world.call('POST', '/api/v1/notification-rules/preview', { jwt: anna.jwt, body: { messageTemplate } });
  expect((await preview('{vehicle}: {speed}')).body.text).toBe('Van 7: 62 km/h');
  expect((await preview(null)).body.text).toContain('parked');
  expect(pointers(await preview('{x}'))).toEqual(['/messageTemplate']);
});

/** What a browser hands in; the point is that of RFC 8291. */
const BROWSER = {
  kind: 'web-push',
  name: 'Firefox',
  subscription: {
    endpoint: 'https://push.example.com/wpush/secret-path',
    keys: {
      p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
      auth: 'BTBZMqHH6r4Tts7J_aSIgg',
    },
  },
};

test('a browser subscribes with the key of the service, and has one account', async () => {
  const key = await world.call('GET', '/api/v1/me/push-key', { jwt: anna.jwt });
  expect(key.body.publicKey).toMatch(/^[\w-]{87}$/);
  expect((await world.call('GET', '/api/v1/me/push-key', { jwt: boss.jwt })).body).toEqual(key.body);
  const made = await add(BROWSER);
  expect([made.status, made.body.state, made.body.settings.service]).toEqual([201, 'confirmed', 'push.example.com']);
  const text = JSON.stringify((await world.call('GET', CHANNELS, { jwt: anna.jwt })).body);
  expect(text).not.toMatch(/secret-path|BCVxsr7N|BTBZMqHH/);
  // Browsers are not named by a rule: it sends to all of them, or to none.
  const rule = { name: 'Trips', eventKinds: ['trip'], push: true };
  const named = await world.call('POST', '/api/v1/notification-rules', {
    jwt: anna.jwt,
    body: { ...rule, channelIds: [made.body.id] },
  });
  expect(pointers(named)).toEqual(['/channelIds/0']);
  expect((await world.call('POST', '/api/v1/notification-rules', { jwt: anna.jwt, body: rule })).body.push).toBe(true);
  const path = `${CHANNELS}/${made.body.id}`;
  const patch = (body: object) => world.call('PATCH', path, { jwt: anna.jwt, body });
  expect((await patch({ name: 'Laptop' })).body.name).toBe('Laptop');
  expect((await patch({ secret: '{}' })).status).toBe(400);
  expect((await patch({ settings: { url: 'https://evil.example/' } })).status).toBe(400);
  // Somebody else logs in with the same browser.
  const taken = await add(BROWSER, boss);
  expect(taken.status).toBe(201);
  expect((await world.call('GET', CHANNELS, { jwt: anna.jwt })).body.items).toEqual([]);
  for (const [subscription, pointer] of [
    [{ ...BROWSER.subscription, endpoint: 'https://elsewhere.example/x' }, '/subscription/endpoint'],
    [{ ...BROWSER.subscription, endpoint: 'https://127.0.0.1/x' }, '/subscription/endpoint'],
    [{ ...BROWSER.subscription, keys: { ...BROWSER.subscription.keys, auth: 'x' } }, '/subscription/keys/auth'],
  ] as const)
    expect(pointers(await add({ ...BROWSER, subscription }))).toEqual([pointer]);
});

test('what was done to channels is in the audit trail, without what is secret', async () => {
  const chat = (await add({ ...SMS, settings: { ...SMS.settings, body: '{"key":"in-clear"}' }, secret: 'geheim' }))
    .body;
  await world.call('PATCH', `${CHANNELS}/${chat.id}`, { jwt: anna.jwt, body: { name: 'Other', secret: 'geheimer' } });
  await world.call('POST', `${CHANNELS}/${chat.id}/tests`, { jwt: anna.jwt });
  await world.call('DELETE', `${CHANNELS}/${chat.id}`, { jwt: anna.jwt });
  const browser = (await add(BROWSER)).body;
  const { body } = await world.call('GET', '/api/v1/audit?kind=message-channel', { jwt: boss.jwt });
  const entries = body.items.map((each: { action: string; subject: { id: string } }) => [each.action, each.subject.id]);
  expect(entries).toEqual([
    ['created', browser.id],
    ...['deleted', 'tested', 'changed', 'created'].map((action) => [action, chat.id]),
  ]);
  expect(body.items[3]).toMatchObject({ user: { id: anna.user.id }, after: { name: 'Other', secretChanged: true } });
  expect(JSON.stringify(body)).not.toMatch(/geheim|in-clear|secret-path|BCVxsr7N|BTBZMqHH/);
});
