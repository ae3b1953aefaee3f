import { MailPolicy } from '@outrider/access';
import type { EmailMessage, SendResult, WebhookMessage } from '@outrider/channels';
import { hiddenUrl, type NotificationRule, type User } from '@outrider/domain';
import { createLogger, Metrics, type Part } from '@outrider/runtime';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createChannelTests } from './channel-tests.ts';
import { Place } from './test-notifier.fixture.ts';

const HOOK = 'https://hooks.example.org/anna';
const PATIENCE = { timeout: 60_000, interval: 10 };

let place: Place;
let anna: User;
let emails: EmailMessage[];
let webhooks: WebhookMessage[];
let answer: SendResult;
let part: Part;

beforeEach(async () => {
  place = await new Place().open();
  anna = await place.addUser('anna');
  emails = [];
  webhooks = [];
  answer = { ok: true, status: 204 };
  const config = {
    publicUrl: 'https://fleet.example.com',
    isTrusted: (address: string) => address !== 'new@example.org',
    perAddress: { perHour: 1, perDay: 1 },
    perOwner: { perHour: 1000, perDay: 1000 },
  };
  part = createChannelTests({
    registry: place.registry,
    email: { send: async (message) => ({ ok: true, status: emails.push(message) && 250 }) },
    mailPolicy: new MailPolicy(config, place.registry, new Metrics(), () => place.nowMs),
    webhook: {
      async send(message) {
        webhooks.push(message);
        return answer;
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
    now: () => place.nowMs,
  });
  await part.start();
});
afterEach(async () => {
  await part.stop();
  await place.close();
});

/** A test once it has ended. */
async function tested(rule: NotificationRule, channel: 'email' | 'webhook', target: string) {
  const { channelTests } = place.registry;
  const { id } = await channelTests.request({ userId: anna.id, ruleId: rule.id, channel, target });
  return vi.waitFor(async () => {
    const found = (await channelTests.list(anna.id, rule.id)).find((each) => each.id === id);
    expect(found?.state).not.toBe('pending');
    return found;
  }, PATIENCE);
}

test('an e-mail goes to a confirmed address, within the limits, with a way to unsubscribe', async () => {
  const rule = await place.addRule(anna.id, { name: 'Depot', emails: ['anna@example.org', 'new@example.org'] });
  expect(await tested(rule, 'email', 'anna@example.org')).toMatchObject({ state: 'delivered', responseStatus: 250 });
  expect(emails).toMatchObject([{ to: ['anna@example.org'], subject: 'Test of notifications by e-mail' }]);
  expect(emails[0]?.text).toContain("rule 'Depot'");
  expect(emails[0]?.unsubscribeUrl).toMatch(/^https:\/\/fleet\.example\.com\/email\/unsubscribe/);
  expect(await tested(rule, 'email', 'new@example.org')).toMatchObject({
    state: 'cancelled',
    lastError: 'The holder of the address has not confirmed it yet.',
  });
  const beyond = await tested(rule, 'email', 'anna@example.org');
  expect([beyond?.state, beyond?.lastError]).toEqual(['cancelled', expect.stringContaining('limit')]);
  expect(emails).toHaveLength(1);
});

test('a webhook gets a signed test, once, and its answer is kept', async () => {
  const rule = await place.addRule(anna.id, { name: 'Depot', webhookUrl: HOOK });
  expect(await tested(rule, 'webhook', hiddenUrl(HOOK))).toMatchObject({ state: 'delivered', responseStatus: 204 });
  answer = { ok: false, retry: true, error: 'The endpoint answered 503.', status: 503 };
  expect(await tested(rule, 'webhook', hiddenUrl(HOOK))).toMatchObject({
    state: 'failed',
    lastError: 'The endpoint answered 503.',
    responseStatus: 503,
  });
  expect(webhooks).toMatchObject(Array(2).fill({ url: HOOK, body: { type: 'test', data: { ruleName: 'Depot' } } }));
  expect(webhooks[0]).toMatchObject(await place.registry.notificationRules.webhook(rule.id));
  await place.registry.notificationRules.update(rule.id, null, { webhookUrl: null }, null);
  expect(await tested(rule, 'webhook', hiddenUrl(HOOK))).toMatchObject({ state: 'cancelled' });
  expect(webhooks).toHaveLength(2);
});
