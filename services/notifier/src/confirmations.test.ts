import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MailPolicy } from '@outrider/access';
import { createEmailChannel, type EmailMessage, type SendResult } from '@outrider/channels';
import { tenantOf, type User } from '@outrider/domain';
import { sampleUserFields } from '@outrider/domain/samples';
import type { Registry } from '@outrider/registry';
import { openTestRegistry } from '@outrider/registry/blank';
import { createLogger, Metrics } from '@outrider/runtime';
import { clockAt } from '@outrider/testing/clock';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createConfirmations } from './confirmations.ts';

const PATIENCE = { timeout: 60_000, interval: 5 };
const PUBLIC_URL = 'https://fleet.example.com';
const LIMITS = { perAddress: { perHour: 2, perDay: 100 }, perOwner: { perHour: 3, perDay: 100 } };

let nowMs: number;
let registry: Registry;
let anna: User;
let sent: EmailMessage[];
let answer: () => SendResult;
let stops: (() => Promise<void>)[];

beforeEach(async () => {
  nowMs = Date.UTC(2026, 0, 15, 12);
  registry = await openTestRegistry({ now: () => nowMs });
  anna = await registry.users.create(
    sampleUserFields({ login: 'visit-evil.example', name: 'Visit evil.example', role: 'user' }),
    'a long password',
  );
  sent = [];
  answer = () => ({ ok: true, status: 250 });
  stops = [];
});
afterEach(async () => {
  for (const stop of stops) await stop();
  await registry.close();
});

async function start(): Promise<void> {
  const part = createConfirmations({
    config: { publicUrl: PUBLIC_URL, pollMs: 1 },
    registry,
    email: {
      async send(message) {
        sent.push(message);
        return answer();
      },
    },
    logger: createLogger('silent', 'json'),
    metrics: new Metrics(),
    clock: clockAt(() => nowMs),
    random: () => 0.5,
  });
  await part.start();
  stops.push(() => part.stop());
}
const request = (address: string, tenant = tenantOf(anna), again = false) =>
  registry.mailAddresses.request(tenant, [address], () => false, again ? { language: null } : null);
const policy = () =>
  new MailPolicy({ publicUrl: PUBLIC_URL, isTrusted: () => false, ...LIMITS }, registry, new Metrics(), () => nowMs);

test('the mail that asks has a link, and no word of the account that named the address', async () => {
  await request('victim@example.org');
  await start();
  await vi.waitFor(() => expect(sent).toHaveLength(1), PATIENCE);
  const [message] = sent;
  expect(message).toMatchObject({ to: ['victim@example.org'], subject: 'Confirm your e-mail address' });
  expect(message?.text).toMatch(/https:\/\/fleet\.example\.com\/email\/confirm\?token=[\w.-]+&language=en\n/);
  expect(JSON.stringify(message)).not.toContain('evil');
});

test('the mail that asks is in the language that its address was named with, and says which the page has', async () => {
  const named = (language: string | null) =>
    registry.mailAddresses.request(tenantOf(anna), ['dispatch@example.org'], () => false, { language });
  await named('de');
  await named('he');
  await start();
  await vi.waitFor(() => expect(sent).toHaveLength(1), PATIENCE);
  expect(sent[0]?.subject).toBe('אישור כתובת הדוא״ל שלכם');
  expect(sent[0]?.text).toMatch(/\/email\/confirm\?token=[\w.-]+&language=he\n/);
  expect(sent[0]?.html).toContain('<body dir="rtl"');
});

test('a victim gets few of them, however many accounts name the address, and however often', async () => {
  await start();
  for (let day = 0; day < 4; day += 1) {
    for (let round = 0; round < 3; round += 1) {
      for (let nth = 0; nth < 5; nth += 1) await request('victim@example.org', `tenant ${nth}`, true);
      await vi.waitFor(async () => expect(await registry.mailAddresses.leaseConfirmations(1, 1)).toEqual([]), PATIENCE);
      nowMs += 2 * 3_600_000;
    }
    nowMs += 86_400_000 - 6 * 3_600_000;
  }
  expect(sent.length).toBeGreaterThan(0);
  expect(sent.length).toBeLessThanOrEqual(6);
});

test('a mail server that is away is tried again, and the mail counts once', async () => {
  answer = () => ({ ok: false, retry: true, error: 'away', status: null });
  await request('dispatch@example.org');
  await start();
  for (let times = 1; times <= 6; times += 1) {
    await vi.waitFor(() => expect(sent).toHaveLength(times), PATIENCE);
    await vi.waitFor(async () => expect(await registry.mailAddresses.leaseConfirmations(1, 1)).toEqual([]), PATIENCE);
    if (times === 5) answer = () => ({ ok: true, status: 250 });
    nowMs += 4 * 3_600_000;
  }
  expect(new Set(sent.map(({ id }) => id)).size).toBe(1);
});

test('mails go to confirmed addresses alone, up to a limit, and the owner is given the reason', async () => {
  const admit = (isFirst = true, address = 'dispatch@example.org') => policy().admit(anna, address, isFirst);
  expect(await admit()).toEqual({ cancelled: 'The holder of the address has not confirmed it yet.' });
  const [address] = (await request('dispatch@example.org')).values();
  if (!address) throw new Error('it was named');
  await registry.mailAddresses.change(address, 'confirmed');
  expect(await admit()).toMatchObject({ id: address.id });
  expect(await admit()).toMatchObject({ id: address.id });
  // Another attempt of the same mail.
  expect(await admit(false)).toMatchObject({ id: address.id });
  expect(await admit()).toEqual({ cancelled: 'The limit was reached: 2 e-mails an hour to the address.' });
  const statuses = await registry.mailAddresses.statuses(tenantOf(anna), ['dispatch@example.org']);
  expect(statuses.get('dispatch@example.org')).toEqual({ state: 'confirmed', suppressed: 1 });
  nowMs += 3_600_000;
  const confirmed = await admit();
  if ('cancelled' in confirmed) throw new Error('the next hour has begun');
  await registry.mailAddresses.change(confirmed, 'unsubscribed');
  expect(await admit()).toEqual({ cancelled: 'The holder of the address unsubscribed from these e-mails.' });
});

test('a mail can be ended by a link, and by one click of the mail program', async () => {
  const [address] = (await request('dispatch@example.org')).values();
  if (!address) throw new Error('it was named');
  const message = policy().withUnsubscribe(
    { id: 'one', to: [address.address], subject: 's', text: 't\n', html: '<body><p>t</p></body>' },
    address,
    'en',
  );
  const folder = mkdtempSync(join(tmpdir(), 'outrider-mail-'));
  const channel = createEmailChannel({ smtpUrl: null, from: 'fleet@example.com', folder, now: () => nowMs });
  try {
    expect(await channel.send(message)).toMatchObject({ ok: true });
    const [file = ''] = readdirSync(folder);
    const written = readFileSync(join(folder, file), 'utf8').replaceAll(/\r\n[ \t]+/g, ' ');
    expect(written).toMatch(
      /^List-Unsubscribe: <https:\/\/fleet\.example\.com\/email\/unsubscribe\?token=[\w.-]+&language=en>/im,
    );
    expect(written).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click/im);
    expect(message.text).toContain(`Unsubscribe: ${message.unsubscribeUrl}`);
    expect(message.html).toContain('>Unsubscribe</a>');
  } finally {
    await channel.close();
    rmSync(folder, { recursive: true });
  }
});
