import { notificationText } from '@outrider/channels';
import type { DriverId, GroupId, NotificationRule, User } from '@outrider/domain';
import { clockAt } from '@outrider/testing/clock';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LicenceWatch } from './licence-watch.ts';
import { factsOf, webhookBody } from './prepare-delivery.ts';
import { NOON, Place } from './test-notifier.fixture.ts';

const PATIENCE = { timeout: 60_000, interval: 10 };
const DAY_MS = 86_400_000;

let place: Place;
let anna: User;
let ben: User;
let north: GroupId;

beforeEach(async () => {
  place = await new Place().open();
  north = (await place.registry.groups.create({ name: 'North', dealerId: null })).id;
  anna = await place.addUser('anna', [north]);
  ben = await place.addUser('ben');
});
afterEach(() => place.close());

const addDriver = async (name: string, licenceExpiresOn: string | null): Promise<DriverId> => {
  const { id } = await place.registry.drivers.create({
    ...{ name, dealerId: null, groupIds: [north], codes: [], phone: null, licenceNumber: null },
    licenceExpiresOn,
  });
  return id;
};
const addRule = (owner: User, more: Partial<NotificationRule> = {}) =>
  place.addRule(owner.id, { name: 'Licences', eventKinds: ['licence-expiry'], ...more });
/** 15 January 2026, and days after it. */
const date = (days: number) => new Date(NOON + days * DAY_MS).toISOString().slice(0, 10);
const start = () => place.startNotifications(undefined, { config: { retentionDays: 90, licencePollMs: 10 } });
const inbox = async (user: User) =>
  (await place.registry.inboxes.after(user.id, 0, 1000)).map(
    ({ driverName, event }) =>
      `${driverName} ${'stage' in event && event.stage} ${'licenceExpiresOn' in event && event.licenceExpiresOn}`,
  );
const comes = (...expected: string[]) => vi.waitFor(async () => expect(await inbox(anna)).toEqual(expected), PATIENCE);

test('a licence that ends soon is notified once, and once more when it has ended; a new date starts anew', async () => {
  await addRule(anna);
  // Ben may not see the driver.
  await addRule(ben);
  const eva = await addDriver('Eva', date(20));
  await addDriver('Max', date(40));
  await addDriver('Kim', null);
  await place.relay();
  const stop = await start();
  await comes(`Eva expires-soon ${date(20)}`);
  await stop();
  await start();
  place.nowMs = NOON + 21 * DAY_MS;
  await comes(`Eva expires-soon ${date(20)}`, `Eva expired ${date(20)}`, `Max expires-soon ${date(40)}`);
  await place.registry.drivers.update(eva, null, { licenceExpiresOn: date(30) });
  await place.relay();
  await comes(
    ...[`Eva expires-soon ${date(20)}`, `Eva expired ${date(20)}`, `Max expires-soon ${date(40)}`],
    `Eva expires-soon ${date(30)}`,
  );
  expect(await inbox(ben)).toEqual([]);
});

test('several instances notify once, also after the notification was deleted', async () => {
  const rule = await addRule(anna);
  const ids = await Promise.all(Array.from({ length: 20 }, (_, nth) => addDriver(`Driver ${nth}`, date(nth))));
  await place.relay();
  const watch = () =>
    new LicenceWatch({
      pollMs: 1000,
      directory: place.directory,
      record: (draft) => place.registry.notifications.recordLicence(draft),
      announce: async () => {},
      logger: { error() {} } as never,
      clock: clockAt(() => place.nowMs),
    });
  await Promise.all([watch(), watch(), watch()].map((each) => each.notifyDue()));
  expect((await inbox(anna)).length).toBe(20);
  await place.registry.notifications.forget({ beforeMs: NOON + DAY_MS, maxPerUser: 1000, limit: 1000 });
  await watch().notifyDue();
  expect(await inbox(anna)).toEqual([]);
  await place.registry.drivers.delete(ids[0] as DriverId, null);
  await place.registry.notificationRules.delete(rule.id, null);
  await watch().notifyDue();
  expect(await inbox(anna)).toEqual([]);
});

test('the name goes with the driver, and the notification with the right to see the driver', async () => {
  await addRule(anna);
  const eva = await addDriver('Eva', date(20));
  await place.relay();
  await place.startLive();
  const client = await place.connect(anna);
  const since = client.cursor();
  await start();
  const [sent] = await client.receives('notification');
  expect(sent).toMatchObject({
    ...{ vehicleName: null, driverName: 'Eva', ruleName: 'Licences', late: false },
    event: { kind: 'licence-expiry', driverId: eva, vehicleId: null, licenceExpiresOn: date(20), endedAt: null },
  });
  expect((await place.connect(anna, { all: true, since })).of('notification')).toHaveLength(1);
  await place.registry.drivers.update(eva, null, { groupIds: [] });
  await place.relay();
  // What a returning client missed goes by the rights of now.
  await vi.waitFor(async () => {
    expect((await place.connect(anna, { all: true, since })).of('notification')).toEqual([]);
  }, PATIENCE);
  await place.registry.drivers.delete(eva, null);
  expect((await place.registry.inboxes.after(anna.id, 0, 10)).map(({ driverName }) => driverName)).toEqual([null]);
});

test('a message says whose licence it is and until when, in each channel', async () => {
  await addRule(anna, { webhookUrl: 'https://hooks.example.org/anna' });
  await addDriver('Eva', date(20));
  await place.relay();
  await start();
  await comes(`Eva expires-soon ${date(20)}`);
  const [notification] = await place.registry.inboxes.after(anna.id, 0, 1);
  if (notification === undefined) throw new Error('no notification');
  const nowhere = { startPlace: null, endPlace: null };
  expect(webhookBody(notification, nowhere)).toMatchObject({
    type: 'licence-expiry.begin',
    data: { driverName: 'Eva', event: { stage: 'expires-soon', licenceExpiresOn: date(20) } },
  });
  const reader = { language: 'en', timeZone: 'UTC', units: 'metric' } as const;
  const { subject, text } = notificationText(factsOf(notification, nowhere), reader);
  expect(subject).toBe(`The driving licence of 'Eva' expires soon: last day ${date(20)}`);
  expect(text).toContain(`Licence valid until: ${date(20)}`);
  expect(text).not.toMatch(/Vehicle|undefined|null/);
  const own = notificationText(factsOf(notification, nowhere), reader, '{driver} until {licenceExpiresOn}{vehicle}');
  expect(own.words).toBe(`Eva until ${date(20)}–`);
});
