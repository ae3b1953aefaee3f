import type { EmailMessage, SendResult } from '@outrider/channels';
import type { User } from '@outrider/domain';
import { sampleUserFields } from '@outrider/domain/samples';
import type { Registry } from '@outrider/registry';
import { openTestRegistry } from '@outrider/registry/blank';
import { createLogger, Metrics } from '@outrider/runtime';
import { clockAt } from '@outrider/testing/clock';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createAccountMails } from './account-mails.ts';

const PATIENCE = { timeout: 60_000, interval: 5 };

let nowMs: number;
let registry: Registry;
let anna: User;
let sent: EmailMessage[];
let answer: () => SendResult;
let stop: () => Promise<void>;

beforeEach(async () => {
  nowMs = Date.UTC(2026, 0, 15, 12);
  registry = await openTestRegistry({ now: () => nowMs });
  anna = await registry.users.create(sampleUserFields({ login: 'anna', role: 'user' }), 'a long password');
  await registry.accountLinks.setEmail(anna, 'anna@example.com');
  sent = [];
  answer = () => ({ ok: true, status: 250 });
  const part = createAccountMails({
    config: { publicUrl: 'https://fleet.example.com', pollMs: 1 },
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
  stop = () => part.stop();
});
afterEach(async () => {
  await stop();
  await registry.close();
});

const mails = (count: number) => vi.waitFor(() => expect(sent).toHaveLength(count), PATIENCE);
const tokenOf = (mail: EmailMessage | undefined) => /token=([\w-]{43})&/.exec(mail?.text ?? '')?.[1] ?? '';
const settled = () => vi.waitFor(async () => expect(await registry.accountLinks.lease(1, 1)).toEqual([]), PATIENCE);

test('the link of a mail sets the password, and the database has no token', async () => {
  await registry.accountLinks.request(anna, 'reset', 'de');
  await mails(1);
  const [mail] = sent;
  expect(mail).toMatchObject({ to: ['anna@example.com'], subject: 'Neues Passwort wählen' });
  expect(mail?.text).toContain('https://fleet.example.com/password?token=');
  expect(mail?.html).toContain(tokenOf(mail));
  expect((await registry.accountLinks.accountOf(tokenOf(mail)))?.user.id).toBe(anna.id);
  expect(await registry.accountLinks.setPassword(tokenOf(mail), 'another password')).not.toBeNull();
  expect(await registry.users.authenticate('anna', 'another password')).not.toBeNull();
  expect(await registry.accountLinks.setPassword(tokenOf(mail), 'a third password')).toBeNull();
});

test('an invitation works for a week, a reset for an hour', async () => {
  for (const [purpose, hours] of [
    ['reset', 1],
    ['invitation', 168],
  ] as const) {
    await registry.accountLinks.request(anna, purpose, 'en');
    await mails(purpose === 'reset' ? 1 : 2);
    const token = tokenOf(sent.at(-1));
    nowMs += hours * 3_600_000 - 1;
    expect((await registry.accountLinks.accountOf(token))?.purpose).toBe(purpose);
    nowMs += 1;
    expect(await registry.accountLinks.accountOf(token)).toBeNull();
  }
});

test('an address gets five a day, and then the newest link still works', async () => {
  for (let nth = 1; nth <= 5; nth++) {
    await registry.accountLinks.request(anna, 'reset', 'en');
    await mails(nth);
    await settled();
  }
  await registry.accountLinks.request(anna, 'reset', 'en');
  await settled();
  expect(sent).toHaveLength(5);
  expect(await registry.accountLinks.accountOf(tokenOf(sent[4]))).not.toBeNull();
  expect(await registry.accountLinks.accountOf(tokenOf(sent[0]))).toBeNull();
});

test('a mail that fails for the moment is sent again, and counts once', async () => {
  answer = () => ({ ok: false, retry: true, status: 451, error: 'later' });
  await registry.accountLinks.request(anna, 'reset', 'en');
  await mails(1);
  answer = () => ({ ok: true, status: 250 });
  await vi.waitFor(() => {
    nowMs += 60_000;
    expect(sent.length).toBeGreaterThan(1);
  }, PATIENCE);
  await settled();
  expect(await registry.accountLinks.accountOf(tokenOf(sent.at(-1)))).not.toBeNull();
});

test('an account that was blocked meanwhile gets none', async () => {
  await registry.users.update(anna.id, null, { blocked: true });
  const [blocked] = [await registry.users.get(anna.id)];
  await registry.accountLinks.request(blocked ?? anna, 'reset', 'en');
  await settled();
  expect(sent).toEqual([]);
});
