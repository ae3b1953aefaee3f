import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MailPolicy } from '@outrider/access';
import {
  createGuardedHttp,
  createVapidKeys,
  type GuardedHttp,
  type GuardedRequest,
  type SendResult,
} from '@outrider/channels';
import { Directory, type GeofenceId, type User, type Vehicle } from '@outrider/domain';
import { PLAIN_GEOCODER } from '@outrider/geocoder/testing';
import type { MessageChannel } from '@outrider/registry';
import { createLogger, Metrics, type Part } from '@outrider/runtime';
import { clockAt } from '@outrider/testing/clock';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createChannelTests } from './channel-tests.ts';
import { createDeliveries } from './deliveries.ts';
import { Place, visit } from './test-notifier.fixture.ts';

const PATIENCE = { timeout: 60_000, interval: 10 };
const TOKEN = '123456789:AAEhBOweik6ad9r_QXMENQjcrGbqCr4K-bc';

let place: Place;
let anna: User;
let car: Vehicle;
let depot: GeofenceId;
let chat: MessageChannel;
/** What the bot API was sent. */
let said: { path: string; chat_id: string; text: string }[];
let answer: (response: ServerResponse) => void;
let http: GuardedHttp;
let pushed: GuardedRequest[];
let pushAnswer: (request: GuardedRequest) => SendResult;
let parts: Part[];
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    said.push({ path: request.url, ...JSON.parse(Buffer.concat(chunks).toString()) });
    answer(response);
  });
});

beforeEach(async () => {
  place = await new Place().open();
  const group = await place.registry.groups.create({ name: 'Lorries', dealerId: null });
  anna = await place.addUser('anna', [group.id]);
  car = await place.addVehicle('Car', [group.id]);
  depot = await place.addGeofence('Depot', anna.id);
  said = [];
  answer = (response) => response.end('{"ok":true}');
  if (!server.listening) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }
  // Users' own addresses are guarded; that of the bots is the operator's.
  const bounds = { allowPrivateAddresses: false, timeoutMs: 10_000, maxResponseBytes: 10_000 };
  pushed = [];
  pushAnswer = () => ({ ok: true, status: 201 });
  const guarded = createGuardedHttp({ ...bounds, now: () => place.nowMs });
  // The push service of a browser is on no address of this machine.
  http = {
    ...guarded,
    async request(request) {
      if (!request.url.startsWith('https://push.example.com/')) return guarded.request(request);
      pushed.push(request);
      return { result: pushAnswer(request), answer: '' };
    },
  };
  const telegramUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const channels = {
    ...{ http, config: { TELEGRAM_API_URL: telegramUrl }, allowPrivateAddresses: true },
    webPush: { keys: await createVapidKeys(), contact: 'mailto:a@example.org', hosts: ['push.example.com'] },
  };
  const mailPolicy = new MailPolicy(
    {
      publicUrl: 'https://fleet.example.com',
      isTrusted: () => true,
      perAddress: { perHour: 1, perDay: 1 },
      perOwner: { perHour: 1, perDay: 1 },
    },
    place.registry,
    new Metrics(),
    () => place.nowMs,
  );
  const common = {
    registry: place.registry,
    email: { send: async () => ({ ok: true as const, status: 250 }) },
    webhook: { send: async () => ({ ok: true as const, status: 204 }) },
    mailPolicy,
    channels,
    messageLimits: { perHour: 3, perDay: 5 },
    logger: createLogger('silent', 'json'),
    now: () => place.nowMs,
    clock: clockAt(() => place.nowMs),
  };
  parts = [
    createChannelTests(common),
    createDeliveries({
      ...common,
      config: {},
      directory: new Directory(),
      geocoder: PLAIN_GEOCODER,
      metrics: new Metrics(),
      random: () => 0.5,
    }),
  ];
  for (const part of parts) await part.start();
  chat = await place.registry.messageChannels.create(
    {
      userId: anna.id,
      kind: 'telegram',
      name: 'Night shift',
      state: 'pending',
      settings: { chatId: '-1001' },
      endpoint: 'telegram:-1001',
    },
    TOKEN,
  );
});
afterEach(async () => {
  for (const part of parts) await part.stop();
  await http.close();
  await place.close();
});

async function tested(channel: MessageChannel) {
  const { channelTests } = place.registry;
  await channelTests.request({ userId: anna.id, ruleId: null, channel: channel.kind, target: channel.id });
  return vi.waitFor(async () => {
    const [found] = await channelTests.listOfTarget(anna.id, channel.id);
    expect(found?.state).not.toBe('pending');
    return found;
  }, PATIENCE);
}

async function confirm(): Promise<void> {
  expect(await tested(chat)).toMatchObject({ state: 'delivered' });
  const code = /\d{6}/.exec(said.at(-1)?.text ?? '')?.[0] ?? '';
  expect(await place.registry.messageChannels.confirm(chat.id, code)).toBe(true);
}

/** The deliveries of a rule once none is pending, of visits so many minutes after noon. */
async function delivered(channelIds: readonly string[], minutes: readonly number[], more: object = {}) {
  const rule = await place.addRule(anna.id, { channelIds, name: `Rule ${minutes}`, ...more });
  const drafts = minutes.map((minute, nth) => ({
    offset: nth,
    rule,
    event: visit(car.id, depot, minute),
    vehicleName: 'Van 7',
    geofenceName: 'Depot',
  }));
  await place.registry.notifications.record({ consumer: rule.id, partition: 0, next: minutes.length, drafts });
  return vi.waitFor(async () => {
    place.nowMs += 1000;
    const { items } = await place.registry.deliveries.list(anna.id, { ruleId: rule.id }, { limit: 100, after: null });
    expect(items.every(({ state }) => state !== 'pending')).toBe(true);
    return items.toReversed();
  }, PATIENCE);
}

test('a chat gets nothing but its code before somebody who reads it confirms it', async () => {
  expect(await delivered([chat.id], [0])).toEqual([]);
  await tested(chat);
  expect(said).toMatchObject([{ path: `/bot${TOKEN}/sendMessage`, chat_id: '-1001' }]);
  const code = /\d{6}/.exec(said[0]?.text ?? '')?.[0] ?? '';
  const { messageChannels } = place.registry;
  const wrong = code === '000000' ? '000001' : '000000';
  expect(await messageChannels.confirm(chat.id, wrong)).toBe(false);
  place.nowMs += 3_600_001;
  expect(await messageChannels.confirm(chat.id, code)).toBe(false);
  await confirm();
  const [done] = await delivered([chat.id], [1]);
  expect(done).toMatchObject({ channel: 'telegram', target: chat.id, state: 'delivered', responseStatus: 200 });
  expect(said.at(-1)?.text).toContain("'Van 7' entered 'Depot'");
});

test('a code can be guessed at five times', async () => {
  await tested(chat);
  const code = /\d{6}/.exec(said[0]?.text ?? '')?.[0] ?? '';
  const wrong = code === '000000' ? '000001' : '000000';
  for (let nth = 0; nth < 5; nth += 1) await place.registry.messageChannels.confirm(chat.id, wrong);
  expect(await place.registry.messageChannels.confirm(chat.id, code)).toBe(false);
});

test('it is tried again when the bot API asks for it, and given up where the chat is gone', async () => {
  await confirm();
  let calls = 0;
  answer = (response) => {
    calls += 1;
    if (calls > 1) return response.end('{"ok":true}');
    response.writeHead(429).end('{"ok":false,"description":"Too Many Requests","parameters":{"retry_after":7}}');
  };
  const [again] = await delivered([chat.id], [0]);
  expect(again).toMatchObject({ state: 'delivered', attempts: 2 });
  expect(again?.log[0]?.error).toBe('The endpoint answered 429. Too Many Requests');
  expect((again?.log[1]?.atMs ?? 0) - (again?.log[0]?.atMs ?? 0)).toBeGreaterThanOrEqual(7000);
  answer = (response) => response.writeHead(403).end('{"ok":false,"description":"Forbidden: bot was kicked"}');
  expect(await delivered([chat.id], [1])).toMatchObject([
    { state: 'failed', attempts: 1, lastError: 'The endpoint answered 403. Forbidden: bot was kicked' },
  ]);
});

test('beyond the limit nothing is sent', async () => {
  await confirm();
  const states = (await delivered([chat.id], [0, 1, 2])).map(({ state, lastError }) => [state, lastError]);
  expect(states.toSorted()).toEqual([
    ['cancelled', 'The limit of the channel was reached.'],
    ['delivered', null],
    ['delivered', null],
  ]);
});

test('a call of an API does not reach the own network, whatever was stored', async () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const settings = { method: 'POST', url, headers: [], contentType: 'text/plain', body: '{message}', to: '' };
  const fields = { userId: anna.id, kind: 'http', name: 'SMS', state: 'confirmed' as const, settings, endpoint: url };
  const sms = await place.registry.messageChannels.create(fields, null);
  expect(await delivered([sms.id], [0])).toMatchObject([{ channel: 'http', state: 'failed', attempts: 1 }]);
  expect(said).toEqual([]);
});

test('a channel that is deleted leaves the rules that named it', async () => {
  const rule = await place.addRule(anna.id, { channelIds: [chat.id] });
  await place.registry.messageChannels.delete(chat.id);
  expect(await place.registry.notificationRules.get(rule.id)).toMatchObject({ version: 2, channelIds: [] });
});

/** A browser of anna's; the point is that of RFC 8291. */
function browser(name: string) {
  const endpoint = `https://push.example.com/${name}`;
  const keys = {
    p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
    auth: 'BTBZMqHH6r4Tts7J_aSIgg',
  };
  const settings = { service: 'push.example.com', fingerprint: name };
  return place.registry.messageChannels.create(
    { userId: anna.id, kind: 'web-push', name, state: 'confirmed', settings, endpoint: 'https://push.example.com' },
    JSON.stringify({ endpoint, keys }),
    name,
  );
}

test('a rule with push sends to all browsers of its owner; one that is gone is forgotten', async () => {
  const [laptop, phone] = [await browser('laptop'), await browser('phone')];
  expect(await delivered([], [0])).toEqual([]);
  const first = await delivered([], [1], { push: true });
  expect(first.map(({ channel, target, state }) => [channel, target, state])).toEqual([
    ['web-push', laptop.id, 'delivered'],
    ['web-push', phone.id, 'delivered'],
  ]);
  expect(pushed.map(({ url }) => url).toSorted()).toEqual([
    'https://push.example.com/laptop',
    'https://push.example.com/phone',
  ]);
  pushAnswer = ({ url }) =>
    url.endsWith('phone')
      ? { ok: false, retry: false, error: 'The endpoint answered 410.', status: 410, isGone: true }
      : { ok: true, status: 201 };
  expect(await delivered([], [2], { push: true })).toMatchObject([{ state: 'delivered' }, { state: 'failed' }]);
  expect(await place.registry.messageChannels.list(anna.id)).toMatchObject([{ id: chat.id }, { id: laptop.id }]);
  expect(await tested(laptop)).toMatchObject({ channel: 'web-push', state: 'delivered' });
});

test('messages are in the language of the account, or of the rule', async () => {
  await confirm();
  await place.registry.preferences.change(anna.id, () => ({ language: 'de', timeZone: 'Asia/Tokyo' }));
  await delivered([chat.id], [0]);
  expect(said.at(-1)?.text).toContain("Fahrzeugereignis: 'Van 7' ist in 'Depot' eingefahren");
  expect(said.at(-1)?.text).toContain('15.01.2026 21:00:00 +09:00 (Asia/Tokyo)');
  const messageTemplates = { ru: 'Внимание: {vehicle}', de: 'Achtung: {vehicle}' };
  await delivered([chat.id], [1], { language: 'ru', messageTemplates, messageTemplate: 'Attention' });
  expect(said.at(-1)?.text).toBe('Внимание: Van 7');
});
