import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MailPolicy } from '@outrider/access';
import {
  createWebhookChannel,
  type EmailMessage,
  type SendResult,
  verifyWebhook,
  type WebhookMessage,
} from '@outrider/channels';
import { Directory, type GeofenceId, type NotificationRule, type User, type Vehicle } from '@outrider/domain';
import { PLAIN_GEOCODER } from '@outrider/geocoder/testing';
import type { Delivery, NotificationRuleFields } from '@outrider/registry';
import { createLogger, Metrics } from '@outrider/runtime';
import { clockAt } from '@outrider/testing/clock';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createDeliveries, type DeliveriesParts } from './deliveries.ts';
import { Place, visit } from './test-notifier.fixture.ts';

const HOOK = 'https://hooks.example.org/anna';
const PATIENCE = { timeout: 60_000, interval: 10 };

let place: Place;
let anna: User;
let car: Vehicle;
let depot: GeofenceId;
let sentEmails: EmailMessage[];
let sentWebhooks: WebhookMessage[];
let answer: (message: WebhookMessage) => SendResult | Promise<SendResult>;
let stops: (() => Promise<void>)[];

beforeEach(async () => {
  place = await new Place().open();
  const group = await place.registry.groups.create({ name: 'Lorries', dealerId: null });
  anna = await place.addUser('anna', [group.id]);
  car = await place.addVehicle('Car', [group.id]);
  depot = await place.addGeofence('Depot', anna.id);
  sentEmails = [];
  sentWebhooks = [];
  answer = () => ({ ok: true, status: 204 });
  stops = [];
});
afterEach(async () => {
  for (const stop of stops) await stop();
  await place.close();
});

async function startDeliveries(more: Partial<DeliveriesParts> = {}) {
  const part = createDeliveries({
    config: {},
    registry: place.registry,
    directory: new Directory(),
    geocoder: PLAIN_GEOCODER,
    email: {
      async send(message) {
        sentEmails.push(message);
        return { ok: true, status: 250 };
      },
    },
    mailPolicy: new MailPolicy(
      {
        publicUrl: 'https://fleet.example.com',
        isTrusted: () => true,
        perAddress: { perHour: 1000, perDay: 1000 },
        perOwner: { perHour: 1000, perDay: 1000 },
      },
      place.registry,
      new Metrics(),
      () => place.nowMs,
    ),
    webhook: {
      async send(message) {
        sentWebhooks.push(message);
        return answer(message);
      },
    },
    channels: {
      http: { request: () => Promise.reject(new Error('unused')), close: async () => {} },
      config: { TELEGRAM_API_URL: '' },
      webPush: null,
      allowPrivateAddresses: false,
    },
    messageLimits: { perHour: 10, perDay: 10 },
    logger: createLogger('silent', 'json'),
    metrics: new Metrics(),
    clock: clockAt(() => place.nowMs),
    random: () => 0.5,
    ...more,
  });
  await part.start();
  stops.push(() => part.stop());
  return part;
}

/** Records notifications of visits for a rule, without events. */
async function notify(rule: NotificationRule, minutes: readonly number[], geofenceId = depot): Promise<void> {
  const { notifications } = place.registry;
  const from = (await notifications.places('test')).get(0)?.offset ?? 0;
  await notifications.record({
    consumer: 'test',
    partition: 0,
    next: from + minutes.length,
    drafts: minutes.map((minute, nth) => ({
      offset: from + nth,
      rule,
      event: visit(car.id, geofenceId, minute),
      vehicleName: 'Van 7',
      geofenceName: 'Depot',
    })),
  });
}

const addRule = (more: Partial<NotificationRuleFields>) => place.addRule(anna.id, more);

/** The user's deliveries once they are all as wanted, the oldest first. */
async function deliveriesOnce(condition: (delivery: Delivery) => boolean): Promise<Delivery[]> {
  const list = async () =>
    (await place.registry.deliveries.list(anna.id, {}, { limit: 1000, after: null })).items.toReversed();
  await vi.waitFor(async () => expect((await list()).every(condition)).toBe(true), PATIENCE);
  return list();
}
const finished = ({ state }: Delivery) => state !== 'pending';

test('an e-mail says in words what happened, a webhook says it in JSON; each is sent once', async () => {
  const rule = await addRule({ emails: ['anna@example.org'], webhookUrl: HOOK, timeZone: 'Europe/Berlin' });
  await notify(rule, [0]);
  await startDeliveries();
  await startDeliveries();
  const done = await deliveriesOnce(finished);
  expect(
    done.map(({ channel, state, attempts, responseStatus }) => [channel, state, attempts, responseStatus]),
  ).toEqual(
    expect.arrayContaining([
      ['email', 'delivered', 1, 250],
      ['webhook', 'delivered', 1, 204],
    ]),
  );
  expect(sentEmails).toMatchObject([
    { id: done.find(({ channel }) => channel === 'email')?.id, to: ['anna@example.org'] },
  ]);
  expect(sentEmails[0]?.subject).toContain('Van 7');
  expect(sentEmails[0]?.subject).toContain('Depot');
  // Noon in London is one in Berlin.
  expect(sentEmails[0]?.text).toContain('13:00');
  expect(sentEmails[0]?.text).toMatch(/^Place: Town at \d+ \d+$/m);
  expect(sentWebhooks).toMatchObject([
    {
      id: done.find(({ channel }) => channel === 'webhook')?.id,
      url: HOOK,
      secret: expect.stringMatching(/^whsec_/),
      body: {
        type: 'geofence-visit.begin',
        timestamp: '2026-01-15T12:00:00.000Z',
        data: {
          number: 1,
          vehicleName: 'Van 7',
          event: { vehicleId: car.id, geofenceId: depot },
          startPlace: expect.stringMatching(/^Town at/),
          endPlace: null,
        },
      },
    },
  ]);
});

test('what fails for now is tried again with the same id, later and later, and no longer than a day', async () => {
  const rule = await addRule({ webhookUrl: HOOK });
  answer = () => ({ ok: false, retry: true, error: 'The endpoint answered 503.', status: 503 });
  const deliveries = await startDeliveries();
  await notify(rule, [0]);
  deliveries.wake();
  const beganMs = place.nowMs;
  const waits: number[] = [];
  for (;;) {
    const [delivery] = await deliveriesOnce(({ state, nextAttemptAtMs, lastError }) =>
      state === 'pending' ? lastError !== null && (nextAttemptAtMs ?? 0) > place.nowMs : true,
    );
    if (!delivery || delivery.nextAttemptAtMs === null) break;
    // A lease has an end as well: only a settled attempt counts.
    if (delivery.attempts > sentWebhooks.length) continue;
    waits.push(delivery.nextAttemptAtMs - place.nowMs);
    place.nowMs = delivery.nextAttemptAtMs;
    const before = sentWebhooks.length;
    deliveries.wake();
    await vi.waitFor(() => expect(sentWebhooks.length).toBe(before + 1), PATIENCE);
    await vi.waitFor(async () => {
      const [now] = await deliveriesOnce(() => true);
      expect(now?.attempts === before + 1 && now.nextAttemptAtMs !== place.nowMs + 30_000).toBe(true);
    }, PATIENCE);
  }
  expect(waits.slice(0, 4)).toEqual([5000, 15_000, 45_000, 135_000]);
  expect(place.nowMs - beganMs).toBeLessThanOrEqual(86_400_000);
  expect(place.nowMs - beganMs).toBeGreaterThan(86_400_000 - 5 * 3_600_000);
  expect(new Set(sentWebhooks.map(({ id }) => id)).size).toBe(1);
  const [failed] = await deliveriesOnce(finished);
  expect(failed).toMatchObject({ state: 'failed', responseStatus: 503, lastError: 'The endpoint answered 503.' });
});

test('a delivery whose preparation throws is retried, and given up after a day', async () => {
  const rule = await addRule({ webhookUrl: HOOK });
  await notify(rule, [0]);
  const giveUpAtMs = place.nowMs + 86_400_000;
  const { registry } = place;
  let prepared = 0;
  const deliveries = await startDeliveries({
    registry: {
      deliveries: registry.deliveries,
      users: registry.users,
      vehicles: registry.vehicles,
      geofences: registry.geofences,
      drivers: registry.drivers,
      messageChannels: registry.messageChannels,
      preferences: registry.preferences,
      notificationRules: Object.assign(Object.create(registry.notificationRules), {
        async get() {
          prepared += 1;
          throw new Error('broken');
        },
      }),
    },
  });
  const attempted = (count: number) =>
    vi.waitFor(async () => {
      const [delivery] = await deliveriesOnce(() => true);
      // Settled, and not only leased: then the next attempt is when the lease ends.
      const isSettled = delivery?.lastError !== null && delivery?.nextAttemptAtMs !== place.nowMs + 30_000;
      expect(isSettled && delivery?.attempts === count && prepared === count).toBe(true);
    }, PATIENCE);
  await attempted(1);
  for (let count = 2; place.nowMs <= giveUpAtMs; count += 1) {
    const [delivery] = await deliveriesOnce(() => true);
    if (delivery === undefined || delivery.nextAttemptAtMs === null) break;
    place.nowMs = delivery.nextAttemptAtMs;
    deliveries.wake();
    await attempted(count);
  }
  const [failed] = await deliveriesOnce(finished);
  expect(failed).toMatchObject({ state: 'failed', lastError: 'Sending failed in the service.' });
  expect(place.nowMs).toBeLessThanOrEqual(giveUpAtMs);
  expect(prepared).toBeGreaterThan(8);
  expect(sentWebhooks).toEqual([]);
});

test('what can never be taken is not tried again, and a receiver that asks for time gets it', async () => {
  const rule = await addRule({ webhookUrl: HOOK });
  answer = () => ({ ok: false, retry: false, error: 'The endpoint answered 410.', status: 410 });
  const deliveries = await startDeliveries();
  await notify(rule, [0]);
  deliveries.wake();
  expect(await deliveriesOnce(finished)).toMatchObject([{ state: 'failed', attempts: 1, responseStatus: 410 }]);
  answer = () => ({ ok: false, retry: true, error: 'busy', status: 429, retryAfterMs: 3_600_000 });
  await notify(rule, [1]);
  deliveries.wake();
  const [, asked] = await deliveriesOnce(({ lastError }) => lastError !== null);
  expect(asked?.nextAttemptAtMs).toBe(place.nowMs + 3_600_000);
});

test('a delivery that is sent again goes out again', async () => {
  const rule = await addRule({ webhookUrl: HOOK });
  await notify(rule, [0]);
  const deliveries = await startDeliveries();
  const [first] = await deliveriesOnce(finished);
  if (!first) throw new Error('one was sent');
  place.nowMs += 1000;
  await place.registry.deliveries.resend(anna.id, first.id);
  deliveries.wake();
  await vi.waitFor(() => expect(sentWebhooks).toHaveLength(2), PATIENCE);
  expect(await deliveriesOnce(finished)).toMatchObject([{ state: 'delivered', attempts: 1 }]);
});

test('an escalation says so, goes to the addresses for it, and to none that was taken out', async () => {
  const escalateTo = ['boss@example.org', 'gone@example.org'];
  const rule = await place.addRule(anna.id, { severity: 'critical', escalateAfterMinutes: 5, escalateTo });
  await notify(rule, [0]);
  place.nowMs += 5 * 60_000;
  await place.registry.incidents.escalateDue();
  await place.registry.notificationRules.update(rule.id, null, { escalateTo: ['boss@example.org'] });
  await startDeliveries();
  const done = await deliveriesOnce(finished);
  expect(sentEmails).toMatchObject([
    { to: ['boss@example.org'], subject: "Nobody has acknowledged this yet: Vehicle event: 'Van 7' entered 'Depot'" },
  ]);
  expect(sentEmails[0]?.text).toMatch(/^Nobody has acknowledged this yet: /);
  expect(done.map(({ target, state }) => `${target} ${state}`).toSorted()).toEqual([
    'boss@example.org delivered',
    'gone@example.org cancelled',
  ]);
});

describe('what it was for decides when it is sent', () => {
  test('a deleted rule, a changed address and a blocked account cancel it', async () => {
    const gone = await addRule({ name: 'gone', webhookUrl: HOOK });
    const moved = await addRule({ name: 'moved', webhookUrl: HOOK, emails: ['old@example.org'] });
    await notify(gone, [0]);
    await notify(moved, [1]);
    await place.registry.notificationRules.delete(gone.id, null);
    await place.registry.notificationRules.update(moved.id, null, {
      webhookUrl: `${HOOK}/elsewhere`,
      emails: ['new@example.org'],
    });
    await startDeliveries();
    const done = await deliveriesOnce(finished);
    expect(done.map(({ state }) => state)).toEqual(['cancelled', 'cancelled', 'cancelled']);
    expect([sentEmails, sentWebhooks]).toEqual([[], []]);
    const kept = await addRule({ name: 'kept', webhookUrl: HOOK });
    await place.registry.users.update(anna.id, null, { blocked: true });
    await notify(kept, [2]);
    const all = await deliveriesOnce(finished);
    expect(all.at(-1)).toMatchObject({ state: 'cancelled', lastError: 'The account is blocked.' });
  });

  test('an owner who may no longer see the vehicle gets no delivery of an earlier notification', async () => {
    const rule = await addRule({ webhookUrl: HOOK, emails: ['anna@example.org'] });
    answer = () => ({ ok: false, retry: true, error: 'The endpoint answered 503.', status: 503 });
    await notify(rule, [0]);
    const deliveries = await startDeliveries();
    await deliveriesOnce(({ channel, lastError, state }) =>
      channel === 'webhook' ? lastError !== null : state === 'delivered',
    );
    const [group] = car.groupIds;
    if (!group) throw new Error('the car is in a group');
    await place.registry.groups.setUser(group, anna.id, false);
    await notify(rule, [1]);
    place.nowMs += 10_000;
    deliveries.wake();
    const states = (await deliveriesOnce(finished)).map(({ state, lastError }) => [state, lastError]);
    const cancelled = ['cancelled', 'The account may no longer see it.'];
    expect(states).toEqual(expect.arrayContaining([['delivered', null], cancelled, cancelled, cancelled]));
    expect([sentEmails.length, sentWebhooks.length]).toEqual([1, 1]);
  });
});

test('an endpoint that hangs holds up no other, and gets only a few at a time', async () => {
  const hanging = await addRule({ name: 'hanging', webhookUrl: 'https://hanging.example.org/' });
  const prompt = await addRule({ name: 'prompt', webhookUrl: 'https://prompt.example.org/' });
  let release: () => void = () => {};
  const hung = new Promise<void>((resolve) => {
    release = resolve;
  });
  let open = 0;
  let most = 0;
  answer = async ({ url }) => {
    if (url.includes('hanging')) {
      most = Math.max(most, ++open);
      await hung;
      open -= 1;
    }
    return { ok: true, status: 200 };
  };
  await notify(
    hanging,
    Array.from({ length: 30 }, (_, nth) => nth),
  );
  await notify(
    prompt,
    Array.from({ length: 30 }, (_, nth) => 100 + nth),
  );
  await startDeliveries({ config: { maxAtOnce: 32, maxPerEndpoint: 3 } });
  const served = () => sentWebhooks.filter(({ url }) => url.includes('prompt'));
  await vi.waitFor(() => expect(served()).toHaveLength(30), PATIENCE);
  // It has not proven to answer.
  expect(most).toBe(1);
  release();
  await deliveriesOnce(finished);
  expect(most).toBeLessThanOrEqual(3);
  expect(new Set(sentWebhooks.map(({ id }) => id)).size).toBe(60);
});

test('hundreds of dead webhooks of one tenant leave the slots of another tenant free', async () => {
  const ben = await place.addUser('ben', car.groupIds);
  const dead = await Promise.all(
    Array.from({ length: 60 }, (_, nth) =>
      addRule({ name: `Dead ${nth}`, webhookUrl: `https://dead-${nth}.example.org/` }),
    ),
  );
  const live = await place.addRule(ben.id, { webhookUrl: 'https://live.example.org/' });
  const bensZone = await place.addGeofence('Ben’s', ben.id);
  let open = 0;
  let most = 0;
  let release: () => void = () => {};
  const hung = new Promise<void>((resolve) => {
    release = resolve;
  });
  answer = async ({ url }) => {
    if (url.includes('live')) return { ok: true, status: 204 };
    most = Math.max(most, ++open);
    await hung;
    open -= 1;
    return { ok: false, retry: true, error: 'No answer within 15 seconds.', status: null };
  };
  for (const [nth, rule] of dead.entries()) await notify(rule, [nth]);
  const deliveries = await startDeliveries();
  stops.unshift(async () => release());
  await vi.waitFor(() => expect(open).toBe(4), PATIENCE);
  for (let nth = 0; nth < 20; nth += 1) {
    await notify(live, [100 + nth], bensZone);
    deliveries.wake();
    await vi.waitFor(
      () => expect(sentWebhooks.filter(({ url }) => url.includes('live'))).toHaveLength(nth + 1),
      PATIENCE,
    );
  }
  expect(most).toBe(4);
});

test('stopping waits for what is under way, and leaves the rest to the next start', async () => {
  const rule = await addRule({ webhookUrl: HOOK });
  await notify(rule, [0, 1, 2, 3, 4, 5]);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  answer = async () => {
    await released;
    return { ok: true, status: 200 };
  };
  const first = await startDeliveries({ config: { maxAtOnce: 2, maxPerEndpoint: 2 } });
  await vi.waitFor(() => expect(sentWebhooks.length).toBeGreaterThan(0), PATIENCE);
  const stopped = first.stop();
  release();
  await stopped;
  stops.pop();
  const { items } = await place.registry.deliveries.list(anna.id, { state: 'delivered' }, { limit: 100, after: null });
  expect(items).toHaveLength(sentWebhooks.length);
  await startDeliveries();
  await deliveriesOnce(finished);
  expect(sentWebhooks.map(({ id }) => id).sort()).toEqual([...new Set(sentWebhooks.map(({ id }) => id))].sort());
  expect(sentWebhooks).toHaveLength(6);
});

test('a real endpoint can check that it is from here', async () => {
  const received: { headers: IncomingMessage['headers']; body: string }[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    received.push({ headers: request.headers, body });
    response.writeHead(received.length === 1 ? 500 : 200).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const webhook = createWebhookChannel({
    allowPrivateAddresses: true,
    timeoutMs: 5000,
    maxResponseBytes: 1024,
    now: () => place.nowMs,
  });
  try {
    const rule = await addRule({ webhookUrl: `http://127.0.0.1:${port}/hook` });
    await notify(rule, [0]);
    const deliveries = await startDeliveries({ webhook });
    await vi.waitFor(() => expect(received).toHaveLength(1), PATIENCE);
    await deliveriesOnce(({ lastError }) => lastError !== null);
    place.nowMs += 10_000;
    deliveries.wake();
    await deliveriesOnce(finished);
    const secret = (await place.registry.notificationRules.webhook(rule.id)).secret ?? '';
    for (const request of received) expect(verifyWebhook(request, secret, place.nowMs)).toBeNull();
    expect(received.map(({ headers }) => headers['webhook-id'])).toEqual(
      Array(2).fill(received[0]?.headers['webhook-id']),
    );
  } finally {
    await webhook.close();
    server.close();
  }
});
