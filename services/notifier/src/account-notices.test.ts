import type { EmailMessage, SendResult } from '@outrider/channels';
import type { SessionId, User } from '@outrider/domain';
import { sampleUserFields } from '@outrider/domain/samples';
import { ACCOUNT_NOTICES, type Registry } from '@outrider/registry';
import { openTestRegistry } from '@outrider/registry/blank';
import { createLogger, Metrics } from '@outrider/runtime';
import { clockAt } from '@outrider/testing/clock';
import { LANGUAGES } from '@outrider/words';
import { messagesIn } from '@outrider/words/messages';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createAccountNotices } from './account-notices.ts';

const PATIENCE = { timeout: 60_000, interval: 5 };
const SESSION = '00000000-0000-7000-8000-000000000000' as SessionId;
const KEY = { credentialId: 'id1', publicKey: 'key', counter: 0 };

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
  const part = createAccountNotices({
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
/** Until none is left that is to be sent. */
const drained = () =>
  vi.waitFor(async () => {
    const left: object[] = [];
    for await (const { section, rows } of registry.personalData.ofAccount(anna.id, true))
      if (section === 'accountNotices') left.push(...rows);
    expect(left).toEqual([]);
  }, PATIENCE);

test('a passkey that is added or removed is reported to the address of the account, in the language of its user', async () => {
  await registry.preferences.change(anna.id, () => ({ language: 'de', timeZone: 'Europe/Berlin' }));
  const { passkey } = await registry.passkeys.add(anna, 'Phone <b> https://evil.example', KEY, 'challenge', ['a']);
  await mails(1);
  expect(sent[0]).toMatchObject({
    to: ['anna@example.com'],
    subject: 'Die Anmeldung zu Ihrem Konto anna wurde geändert',
  });
  expect(sent[0]?.text).toContain('https://fleet.example.com, 15.01.2026 13:00:00 +01:00 (Europe/Berlin):');
  // What somebody typed is no link, and no markup.
  expect(sent[0]?.text).toContain("Der Passkey 'Phone b https evil example' wurde hinzugefügt.");
  expect(sent[0]?.html).not.toContain('<b>');
  await registry.passkeys.remove(anna, passkey.id, SESSION);
  await mails(2);
  expect(sent[1]?.text).toContain('wurde entfernt.');
});

test('another password, another address and another way to sign in are reported as well', async () => {
  await registry.users.setPassword(anna.id, 'another password', null);
  await mails(1);
  expect(sent[0]?.text).toContain('The password was changed.');
  await registry.externalIdentities.link('https://id.example.com/realm', 'sub', anna);
  await mails(2);
  expect(sent[1]?.text).toContain('The sign-in with id.example.com was linked.');
  await registry.accountLinks.setEmail(anna, 'thief@example.com');
  await mails(3);
  expect(sent[2]).toMatchObject({ to: ['anna@example.com'] });
  expect(sent[2]?.text).not.toContain('thief');
});

test('a mail that fails for the moment is sent again with the same id, and given up after a day', async () => {
  answer = () => ({ ok: false, retry: true, status: 451, error: 'later' });
  await registry.users.setPassword(anna.id, 'another password', null);
  await mails(1);
  answer = () => ({ ok: true, status: 250 });
  await vi.waitFor(() => {
    nowMs += 60_000;
    expect(sent.length).toBeGreaterThan(1);
  }, PATIENCE);
  expect(new Set(sent.map(({ id }) => id)).size).toBe(1);
  const before = sent.length;
  answer = () => ({ ok: false, retry: true, status: 451, error: 'later' });
  await registry.users.setPassword(anna.id, 'a third password', null);
  await mails(before + 1);
  nowMs += 25 * 3_600_000;
  await drained();
  expect(sent).toHaveLength(before + 2);
});

test('an address gets twenty a day, for whatever changes', async () => {
  for (let nth = 1; nth <= 20; nth++) {
    await registry.accountLinks.setEmail(anna, `${nth}@example.com`);
    await registry.accountLinks.setEmail(anna, 'anna@example.com');
    await drained();
  }
  const toAnna = () => sent.filter(({ to }) => to[0] === 'anna@example.com').length;
  expect([toAnna(), sent.length]).toEqual([20, 40]);
  await registry.passkeys.add(anna, 'Phone', KEY, 'challenge', ['a']);
  await drained();
  expect(toAnna()).toBe(20);
  nowMs += 86_400_000;
  await registry.users.setPassword(anna.id, 'another password', null);
  await drained();
  expect(toAnna()).toBe(21);
});

test.each(LANGUAGES)('each change has a sentence in %s', (language) => {
  const { accountNotices } = messagesIn(language).words;
  for (const kind of ACCOUNT_NOTICES) {
    const what = accountNotices.what[kind];
    const text = typeof what === 'string' ? what : what('NAME');
    expect(text.length).toBeGreaterThan(10);
    expect(text.includes('NAME')).toBe(typeof what !== 'string');
  }
});
