import { mailLinkToken } from '@outrider/channels';
import type { User } from '@outrider/domain';
import { sampleVehicleFields } from '@outrider/domain/samples';
import type { MailAddress } from '@outrider/registry';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { World } from './api.fixture.ts';

const RULES = '/api/v1/notification-rules';
const VICTIM = 'victim@example.org';
const DAY_MS = 86_400_000;

let world: World;
let anna: { user: User; jwt: string };

beforeEach(async () => {
  world = await World.open({ isTrustedAddress: (address) => address.endsWith('@fleet.example') });
  anna = await world.member('anna', 'user', {});
  await world.registry.vehicles.create(sampleVehicleFields({ name: 'Car' }));
});
afterEach(() => world.close());

const body = (emails: string[], name = 'Depot') => ({ name, eventKinds: ['geofence-visit'], emails });
const addRule = (emails: string[], name?: string) =>
  world.call('POST', RULES, { jwt: anna.jwt, body: body(emails, name) });
const stateOf = async (id: string) =>
  (await world.call('GET', `${RULES}/${id}`, { jwt: anna.jwt })).body.emailStates[0].state as string;
async function address(of = VICTIM): Promise<MailAddress> {
  const [found] = (await world.registry.mailAddresses.request(anna.user.id, [of], () => false)).values();
  if (!found) throw new Error('it was named');
  return found;
}
async function link(purpose: 'confirm' | 'unsubscribe', of = VICTIM): Promise<string> {
  return `/email/${purpose}?token=${mailLinkToken(await address(of), purpose, world.nowMs + DAY_MS)}`;
}
const follow = (path: string, method = 'GET', form?: string) =>
  world.api.fetch(
    new Request(`http://localhost${path}`, {
      method,
      ...(form !== undefined && { body: form, headers: { 'content-type': 'application/x-www-form-urlencoded' } }),
    }),
  );

test('an address is pending until its holder, who has the link, says yes on the page', async () => {
  const rule = (await addRule([VICTIM])).body;
  expect(rule.emailStates).toEqual([{ address: VICTIM, state: 'pending', suppressedToday: 0 }]);
  const path = await link('confirm');
  // Scanners of mail servers follow links.
  for (const method of ['GET', 'HEAD', 'GET']) expect((await follow(path, method)).status).toBe(200);
  expect(await stateOf(rule.id)).toBe('pending');
  const page = await follow(path);
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(page.headers.get('referrer-policy')).toBe('no-referrer');
  expect(await page.text()).toContain(`<form method="post" action="${path}&#38;language=en"`);
  expect((await follow(path, 'POST')).status).toBe(200);
  expect(await stateOf(rule.id)).toBe('confirmed');
  // It worked once.
  expect((await follow(path, 'POST')).status).toBe(410);
  const listed = await world.call('GET', RULES, { jwt: anna.jwt });
  expect(listed.body.items[0].emailStates[0].state).toBe('confirmed');
});

test('one click ends the e-mails, and no saved rule brings them back; its holder alone does', async () => {
  const rule = (await addRule([VICTIM])).body;
  await follow(await link('confirm'), 'POST');
  const unsubscribe = await link('unsubscribe');
  expect(await (await follow(unsubscribe)).text()).toContain('<button>Unsubscribe</button>');
  expect(await stateOf(rule.id)).toBe('confirmed');
  // RFC 8058.
  expect((await follow(unsubscribe, 'POST', 'List-Unsubscribe=One-Click')).status).toBe(200);
  expect(await stateOf(rule.id)).toBe('unsubscribed');
  world.nowMs += DAY_MS / 2;
  anna.jwt = await world.tokenOf(anna.user);
  await world.call('PATCH', `${RULES}/${rule.id}`, { jwt: anna.jwt, body: { emails: [VICTIM] } });
  await addRule([VICTIM], 'Another');
  expect(await stateOf(rule.id)).toBe('unsubscribed');
  expect(await world.registry.mailAddresses.leaseConfirmations(10, 1000)).toEqual([]);
  const page = await (await follow(unsubscribe)).text();
  const [, again = ''] = /action="([^"]+)"/.exec(page.replaceAll('&#38;', '&')) ?? [];
  expect((await follow(again, 'POST')).status).toBe(200);
  expect(await stateOf(rule.id)).toBe('confirmed');
});

test('pages are in the language of the e-mail, Hebrew from right to left', async () => {
  await addRule([VICTIM]);
  const path = `${await link('confirm')}&language=he`;
  const page = await (await follow(path)).text();
  expect(page).toContain('<html lang="he" dir="rtl">');
  expect(page).toContain('<button>אישור</button>');
  expect(page).toContain(`action="${path.replace('&', '&#38;')}"`);
  expect(await (await follow(path, 'POST')).text()).toContain('<h1>הכתובת אושרה</h1>');
  expect(await (await follow(path)).text()).toContain('<h1>הקישור אינו תקף עוד</h1>');
  // What is no language is English.
  expect(await (await follow(`${await link('unsubscribe')}&language=%3Cb%3E`)).text()).toContain('<html lang="en"');
});

test('who gets e-mails is asked in the language of the rule, else in that of its owner', async () => {
  await world.registry.preferences.change(anna.user.id, () => ({ language: 'es' }));
  await addRule([VICTIM]);
  expect((await address()).language).toBe('es');
  const german = { ...body([VICTIM], 'Other'), language: 'de' };
  expect((await world.call('POST', RULES, { jwt: anna.jwt, body: german })).status).toBe(201);
  expect((await address()).language).toBe('de');
});

describe('links', () => {
  test('of one purpose, of another address or out of date do nothing', async () => {
    const rule = (await addRule([VICTIM])).body;
    await addRule(['other@example.org'], 'Other');
    const other = await link('confirm', 'other@example.org');
    const unsubscribe = await link('unsubscribe');
    const expired = `/email/confirm?token=${mailLinkToken(await address(), 'confirm', world.nowMs)}`;
    const id = (await address()).id;
    const bad = [
      unsubscribe.replace('/email/unsubscribe', '/email/confirm'),
      other.replace((await address('other@example.org')).id, id),
      expired,
      '/email/confirm',
      '/email/confirm?token=%00',
      `/email/confirm?token=${id}`,
    ];
    for (const path of bad) {
      expect((await follow(path)).status).toBe(410);
      expect((await follow(path, 'POST')).status).toBe(410);
    }
    expect(await stateOf(rule.id)).toBe('pending');
  });

  test('are nothing that the account which named the address ever sees', async () => {
    const answers = [await addRule([VICTIM]), await world.call('GET', RULES, { jwt: anna.jwt })];
    const { secret, id } = await address();
    for (const answer of answers) {
      expect(JSON.stringify(answer.body)).not.toContain(secret);
      expect(JSON.stringify(answer.body)).not.toContain(id);
    }
  });
});

test('addresses that the operator vouches for need nothing', async () => {
  const rule = (await addRule(['dispatch@fleet.example'])).body;
  expect(rule.emailStates[0].state).toBe('confirmed');
  expect(await world.registry.mailAddresses.leaseConfirmations(10, 1000)).toEqual([]);
});

test('schedules of reports ask as rules do', async () => {
  const schedule = {
    ...{ name: 'Mileage', kind: 'mileage', format: 'csv', period: 'day', timeZone: 'UTC' },
    ...{ frequency: 'daily', hour: 6, covers: 'yesterday', emails: [VICTIM] },
  };
  const added = await world.call('POST', '/api/v1/report-schedules', { jwt: anna.jwt, body: schedule });
  expect(added.status).toBe(201);
  expect(added.body.emailStates).toEqual([{ address: VICTIM, state: 'pending', suppressedToday: 0 }]);
  expect(await world.registry.mailAddresses.leaseConfirmations(10, 1000)).toHaveLength(1);
});

test('an account that names address after address is stopped', async () => {
  await world.registry.mailAddresses.request(
    anna.user.id,
    Array.from({ length: 1000 }, (_, nth) => `${nth}@example.org`),
    () => false,
  );
  expect((await addRule([VICTIM])).status).toBe(409);
});
