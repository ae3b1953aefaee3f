import {
  deriveEventId,
  type FleetEvent,
  type GeofenceId,
  type GeofenceVisit,
  type GroupId,
  hiddenUrl,
  licenceExpiriesOf,
  type NotificationRule,
  type User,
  type VehicleId,
} from '@outrider/domain';
import { sampleGeofenceFields, sampleRuleFields, sampleVehicleFields } from '@outrider/domain/samples';
import { DeliverySlots, deliveryShares, MAX_TESTS_PER_MINUTE } from '@outrider/registry';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ABSENT, World } from './api.fixture.ts';

let world: World;
let anna: { user: User; jwt: string };
let ben: { user: User; jwt: string };
let boss: { user: User; jwt: string };
let car: VehicleId;
let hidden: VehicleId;
let depot: GeofenceId;
let bensZone: GeofenceId;

const RULES = '/api/v1/notification-rules';
const HOOK = 'https://hooks.example.org/anna';
const HOUR_MS = 3_600_000;

const newVehicle = async (name: string, groupIds: User['groupIds']) =>
  (await world.registry.vehicles.create(sampleVehicleFields({ name, groupIds }))).id;
const newZone = async (name: string, owner: User) =>
  (await world.registry.geofences.create(sampleGeofenceFields({ name, ownerId: owner.id }))).id;

beforeEach(async () => {
  world = await World.open();
  const lorries = await world.registry.groups.create({ name: 'Lorries', dealerId: null });
  anna = await world.member('anna', 'user', { groupIds: [lorries.id] });
  ben = await world.member('ben', 'user', { groupIds: [lorries.id] });
  boss = await world.member('boss', 'operator');
  car = await newVehicle('Car', [lorries.id]);
  hidden = await newVehicle('Hidden', []);
  depot = await newZone('Depot', anna.user);
  bensZone = await newZone('Yard', ben.user);
});
afterEach(() => world.close());

const rule = (more: object = {}) => ({ name: 'Visits', eventKinds: ['geofence-visit'], ...more });
const add = (body: unknown, as = anna) => world.call('POST', RULES, { jwt: as.jwt, body });
const pointers = (answer: { body: { errors: { pointer: string }[] } }) =>
  answer.body.errors.map(({ pointer }) => pointer);

function visit(
  vehicleId: VehicleId,
  geofenceId: GeofenceId,
  atMs: number,
  endedAtMs: number | null = null,
): FleetEvent {
  return {
    id: deriveEventId('geofence-visit', vehicleId, geofenceId, atMs),
    kind: 'geofence-visit',
    phase: endedAtMs === null ? 'begin' : 'end',
    vehicleId,
    startedAtMs: atMs,
    endedAtMs,
    latitude: 52.5,
    longitude: 13.4,
    speedKmh: 40,
    fixTimeMs: endedAtMs ?? atMs,
    geofenceId,
    fromFixTimeMs: atMs,
    definitionVersion: 1,
    origin: 'live',
    inferred: false,
    endReason: endedAtMs === null ? null : 'left',
  };
}

/** Records notifications, as the notifier does. */
async function notify(made: NotificationRule, events: readonly FleetEvent[]): Promise<void> {
  const from = (await world.registry.notifications.places('test')).get(0)?.offset ?? 0;
  await world.registry.notifications.record({
    consumer: 'test',
    partition: 0,
    next: from + events.length,
    drafts: events.map((event, nth) => ({
      offset: from + nth,
      rule: made,
      event,
      vehicleName: 'Car',
      geofenceName: 'Depot',
    })),
  });
}
const ruleOf = async (id: string) =>
  (await world.registry.notificationRules.get(id as NotificationRule['id'])) as NotificationRule;

describe('rules', () => {
  test('what is left out has the meaning that a reader expects', async () => {
    const { status, body, headers } = await add(rule());
    expect(status).toBe(201);
    expect(headers.get('location')).toBe(`${RULES}/${body.id}`);
    expect(body).toEqual({
      id: body.id,
      ownerId: anna.user.id,
      name: 'Visits',
      active: true,
      inactiveReason: null,
      eventKinds: ['geofence-visit'],
      phases: ['begin'],
      minDurationMinutes: 0,
      alarms: null,
      sensors: null,
      command: null,
      vehicleIds: null,
      groupIds: null,
      geofenceIds: null,
      insideGeofenceIds: null,
      outsideGeofenceIds: null,
      driver: null,
      driverIds: null,
      driverGroupIds: null,
      licenceWarningDays: 30,
      days: { on: 'daily' },
      hours: null,
      timeZone: 'UTC',
      minIntervalMinutes: 0,
      maxDataAgeMinutes: null,
      emails: [],
      channelIds: [],
      messageTemplate: null,
      messageTemplates: {},
      language: null,
      push: false,
      severity: 'info',
      shared: false,
      escalateAfterMinutes: null,
      escalateTo: [],
      emailStates: [],
      webhook: null,
      lastNotifiedAt: null,
      failedDeliveries: 0,
    });
    expect((await world.call('GET', `${RULES}/${body.id}`, { jwt: anna.jwt })).body).toEqual(body);
    expect((await world.call('GET', RULES, { jwt: anna.jwt })).body.items).toEqual([body]);
  });

  test('everything that a rule can say goes in and comes out', async () => {
    const said = rule({
      active: false,
      eventKinds: ['geofence-visit', 'speeding', 'alarm'],
      phases: ['begin', 'end'],
      alarms: ['sos', 'towing'],
      vehicleIds: [car],
      groupIds: anna.user.groupIds.toSorted(),
      geofenceIds: [depot],
      days: { on: 'weekdays', weekdays: ['monday', 'sunday'] },
      hours: { from: '22:00', to: '06:00' },
      timeZone: 'Europe/Berlin',
      minIntervalMinutes: 7.5,
      maxDataAgeMinutes: 30,
      emails: ['Anna@example.org'],
    });
    const { body } = await add(said);
    expect(body).toMatchObject({ ...said, inactiveReason: 'switched-off' });
    const path = `${RULES}/${body.id}`;
    const dates = { on: 'dates', from: '2026-01-01', to: '2026-01-31' };
    const patched = await world.call('PATCH', path, {
      jwt: anna.jwt,
      body: { active: true, days: dates, hours: null, vehicleIds: null, groupIds: null, geofenceIds: null, emails: [] },
    });
    expect(patched.body).toEqual({
      ...body,
      active: true,
      inactiveReason: null,
      days: dates,
      hours: null,
      vehicleIds: null,
      groupIds: null,
      geofenceIds: null,
      emails: [],
      emailStates: [],
    });
    expect(patched.headers.get('etag')).toBe('"2"');
  });

  test('what can not be is refused with what is wrong and where', async () => {
    for (const [wrong, pointer] of [
      [{ eventKinds: [] }, '/eventKinds'],
      [{ eventKinds: ['geofence-visit', 'geofence-enter'] }, '/eventKinds/1'],
      [{ eventKinds: ['alarm'], alarms: ['panic'] }, '/alarms/0'],
      [{ eventKinds: ['alarm'], alarms: ['power-cut'] }, '/alarms/0'],
      [{ eventKinds: ['alarm'], alarms: [] }, '/alarms'],
      [{ eventKinds: ['sensor-threshold'], sensors: ['Cargo'] }, '/sensors/0'],
      [{ eventKinds: ['sensor-threshold'], sensors: [] }, '/sensors'],
      [{ phases: ['middle'] }, '/phases/0'],
      [{ vehicleIds: [] }, '/vehicleIds'],
      [{ vehicleIds: [car, hidden] }, '/vehicleIds/1'],
      [{ groupIds: [ABSENT] }, '/groupIds/0'],
      [{ geofenceIds: [depot, bensZone] }, '/geofenceIds/1'],
      [{ days: { on: 'weekdays', weekdays: [] } }, '/days/weekdays'],
      [{ days: { on: 'dates', from: '2026-02-01', to: '2026-01-01' } }, '/days/to'],
      [{ days: { on: 'dates', from: '2026-02-31', to: '2026-03-01' } }, '/days/from'],
      [{ days: { on: 'sometimes' } }, '/days/on'],
      [{ hours: { from: '24:00', to: '06:00' } }, '/hours/from'],
      [{ hours: { from: '06:00', to: '06:00' } }, '/hours/to'],
      [{ timeZone: 'Europe/Atlantis' }, '/timeZone'],
      [{ timeZone: '2026-01-01T00:00[Europe/Berlin]' }, '/timeZone'],
      [{ minIntervalMinutes: -1 }, '/minIntervalMinutes'],
      [{ maxDataAgeMinutes: 0 }, '/maxDataAgeMinutes'],
      [{ emails: ['anna'] }, '/emails/0'],
      [{ webhook: { url: 'http://hooks.example.org/' } }, '/webhook/url'],
      [{ webhook: { url: 'https://127.0.0.1/' } }, '/webhook/url'],
      [{ webhook: { url: hiddenUrl(HOOK) } }, '/webhook/url'],
      [{ webhook: { url: HOOK, secret: 'hunter2' } }, '/webhook/secret'],
      [{ ownerId: ben.user.id }, '/ownerId'],
    ] as const) {
      const answer = await add(rule(wrong));
      expect([answer.status, pointers(answer)], JSON.stringify(wrong)).toEqual([400, [pointer]]);
    }
    expect((await world.call('GET', RULES, { jwt: anna.jwt })).body.items).toEqual([]);
  });

  test('the secret of a webhook is returned when it is set, and never again; its URL is hidden', async () => {
    const { body } = await add(rule({ webhook: { url: HOOK } }));
    const url = hiddenUrl(HOOK);
    expect(body.webhook).toEqual({ url, secret: expect.stringMatching(/^whsec_.{40,}$/) });
    const path = `${RULES}/${body.id}`;
    expect((await world.call('GET', path, { jwt: anna.jwt })).body.webhook).toEqual({ url });
    expect((await world.call('GET', RULES, { jwt: anna.jwt })).body.items[0].webhook).toEqual({ url });
    const patch = async (webhook: unknown) =>
      (await world.call('PATCH', path, { jwt: anna.jwt, body: { webhook } })).body.webhook;
    const stored = () => world.registry.notificationRules.webhook(body.id);
    const { secret } = body.webhook;
    // As it is shown, it stays.
    expect(await patch({ url })).toEqual({ url });
    expect(await stored()).toEqual({ url: HOOK, secret });
    const moved = 'https://hooks.example.org/other';
    expect(await patch({ url: moved })).toEqual({ url: hiddenUrl(moved) });
    expect(await stored()).toEqual({ url: moved, secret });
    // As another is shown, and as nobody wrote it, it is no URL.
    for (const wrong of [url, `${hiddenUrl(moved)}/more`]) {
      const refused = await world.call('PATCH', path, { jwt: anna.jwt, body: { webhook: { url: wrong } } });
      expect([refused.status, pointers(refused)]).toEqual([400, ['/webhook/url']]);
    }
    const mine = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
    expect(await patch({ url: moved, secret: mine })).toEqual({ url: hiddenUrl(moved), secret: mine });
    expect(await patch(null)).toBeNull();
    expect(await stored()).toEqual({ url: null, secret: null });
    const again = await patch({ url: moved });
    expect(again.secret).toMatch(/^whsec_/);
    expect([mine, body.webhook.secret]).not.toContain(again.secret);
  });

  test('names, versions and deletion work as everywhere', async () => {
    const { body } = await add(rule());
    const clash = await add(rule());
    expect([clash.status, pointers(clash)]).toEqual([409, ['/name']]);
    expect((await add(rule(), ben)).status).toBe(201);
    const path = `${RULES}/${body.id}`;
    const headers = { 'if-match': '"7"' };
    expect((await world.call('PATCH', path, { jwt: anna.jwt, headers, body: { name: 'x' } })).status).toBe(412);
    expect((await world.call('DELETE', path, { jwt: anna.jwt, headers })).status).toBe(412);
    expect((await world.call('DELETE', path, { jwt: anna.jwt, headers: { 'if-match': '"1"' } })).status).toBe(204);
    expect((await world.call('GET', path, { jwt: anna.jwt })).status).toBe(404);
  });

  test('another’s is not there; an operator sees and changes everyone’s', async () => {
    const { body } = await add(rule());
    const path = `${RULES}/${body.id}`;
    for (const [method, change] of [
      ['GET', undefined],
      ['PATCH', { name: 'mine' }],
      ['DELETE', undefined],
    ] as const)
      expect((await world.call(method, path, { jwt: ben.jwt, body: change })).status).toBe(404);
    expect((await world.call('POST', `${path}/test`, { jwt: ben.jwt })).status).toBe(404);
    expect((await world.call('GET', RULES, { jwt: ben.jwt })).body.items).toEqual([]);
    const dealer = await world.member('dealer', 'dealer');
    expect((await world.call('GET', path, { jwt: dealer.jwt })).status).toBe(404);
    expect((await world.call('GET', RULES, { jwt: boss.jwt })).body.items).toEqual([body]);
    expect((await world.call('PATCH', path, { jwt: boss.jwt, body: { active: false } })).body.ownerId).toBe(
      anna.user.id,
    );
  });

  test('what its owner lost sight of is not shown, and a patch of something else leaves it', async () => {
    const { body } = await add(rule({ vehicleIds: [car] }));
    const [lorries] = (await world.registry.vehicles.get(car))?.groupIds ?? [];
    if (!lorries) throw new Error('the car is a lorry');
    await world.registry.groups.setUser(lorries, anna.user.id, false);
    const path = `${RULES}/${body.id}`;
    expect((await world.call('GET', path, { jwt: anna.jwt })).body.vehicleIds).toEqual([]);
    const renamed = await world.call('PATCH', path, { jwt: anna.jwt, body: { name: 'Other' } });
    expect([renamed.status, renamed.body.vehicleIds]).toEqual([200, []]);
    expect(await ruleOf(body.id)).toMatchObject({ name: 'Other', vehicleIds: [car] });
    await world.call('PATCH', path, { jwt: anna.jwt, body: { vehicleIds: null } });
    expect(await ruleOf(body.id)).toMatchObject({ vehicleIds: null });
  });

  test('a rule of driving licences has its days ahead, and nothing of vehicles', async () => {
    const licences = (more: object = {}) => rule({ eventKinds: ['licence-expiry'], ...more });
    const made = await add(licences());
    expect([made.status, made.body.licenceWarningDays]).toEqual([201, 30]);
    for (const [more, pointer] of [
      [{ vehicleIds: [car] }, '/vehicleIds'],
      [{ geofenceIds: [depot] }, '/geofenceIds'],
      [{ eventKinds: ['licence-expiry', 'trip'] }, '/eventKinds'],
      [{ phases: ['end'] }, '/phases'],
      [{ command: { type: 'position-request' } }, '/command'],
      [{ licenceWarningDays: 366 }, '/licenceWarningDays'],
      [{ licenceWarningDays: 1.5 }, '/licenceWarningDays'],
    ] as const) {
      const refused = await add({ ...licences(more), name: 'Other' });
      expect([refused.status, pointers(refused)], pointer).toEqual([400, [pointer]]);
    }
    const path = `${RULES}/${made.body.id}`;
    const changed = await world.call('PATCH', path, { jwt: anna.jwt, body: { licenceWarningDays: 7 } });
    expect(changed.body).toMatchObject({ licenceWarningDays: 7, eventKinds: ['licence-expiry'] });
    const refused = await world.call('PATCH', path, { jwt: anna.jwt, body: { vehicleIds: [car] } });
    expect([refused.status, pointers(refused)]).toEqual([400, ['/vehicleIds']]);
    const trial = await world.call('POST', `${path}/test`, { jwt: anna.jwt });
    expect(trial.body).toMatchObject({ examined: 0, matched: [], notMatched: [] });
    const body = { eventKind: 'licence-expiry', messageTemplate: '{driver}: {licenceExpiresOn}' };
    const preview = await world.call('POST', `${RULES}/preview`, { jwt: anna.jwt, body });
    expect(preview.body.text).toBe('Anna Berg: 2026-02-14');
  });

  test('the inbox has licences of drivers that the caller may see', async () => {
    const made = await add(rule({ eventKinds: ['licence-expiry'] }));
    const eva = await world.registry.drivers.create({
      ...{
        name: 'Eva',
        dealerId: null,
        groupIds: [...anna.user.groupIds],
        codes: [],
        phone: null,
        licenceNumber: null,
      },
      licenceExpiresOn: '2026-05-31',
    });
    const stored = await world.registry.notificationRules.get(made.body.id);
    const nowMs = Date.parse('2026-05-20T12:00:00Z');
    const [found] = licenceExpiriesOf(stored as NotificationRule, anna.user, [eva], nowMs);
    if (stored === null || found === undefined) throw new Error('nothing expires');
    await world.registry.notifications.recordLicence({ rule: stored, event: found.expiry, driverName: eva.name });
    const inbox = async (query = '') =>
      (await world.call('GET', `/api/v1/notifications${query}`, { jwt: anna.jwt })).body;
    expect(await inbox('?kind=licence-expiry&unread=true')).toMatchObject({
      unreadCount: 1,
      items: [
        { driverName: 'Eva', vehicleName: null, event: { driverId: eva.id, startedAt: '2026-05-01T00:00:00.000Z' } },
      ],
    });
    expect(await inbox(`?vehicleId=${car}`)).toMatchObject({ items: [] });
    await world.registry.drivers.update(eva.id, null, { groupIds: [] });
    expect(await inbox()).toMatchObject({ unreadCount: 0, items: [] });
  });

  test('drivers are named by those who see them, and not where nobody is known', async () => {
    const driver = (name: string, groupIds: GroupId[]) =>
      world.registry.drivers.create({
        ...{ name, groupIds, dealerId: null, codes: [] },
        ...{ phone: null, licenceNumber: null, licenceExpiresOn: null },
      });
    const own = (await driver('Own', [...anna.user.groupIds])).id;
    const other = (await driver('Other', [])).id;
    const made = await add(rule({ driver: 'known', driverIds: [own], driverGroupIds: [...anna.user.groupIds] }));
    expect([made.status, made.body.driver, made.body.driverIds]).toEqual([201, 'known', [own]]);
    for (const [more, pointer] of [
      [{ driverIds: [own, other] }, '/driverIds/1'],
      [{ driverIds: ['nobody'] }, '/driverIds/0'],
      [{ driver: 'anybody' }, '/driver'],
      [{ driver: 'unknown', driverIds: [own] }, '/driver'],
    ] as const) {
      const refused = await add(rule({ name: 'Refused', ...more }));
      expect([refused.status, pointers(refused)]).toEqual([400, [pointer]]);
    }
    const path = `${RULES}/${made.body.id}`;
    const refused = await world.call('PATCH', path, { jwt: anna.jwt, body: { driver: 'unknown' } });
    expect([refused.status, pointers(refused)]).toEqual([400, ['/driver']]);
    await world.registry.drivers.delete(own, null);
    expect((await world.call('GET', path, { jwt: anna.jwt })).body).toMatchObject({ active: true, driverIds: [] });
  });

  test('a kind of event that there is not any more is shown, and stays while something else is changed', async () => {
    const { ownerId, ...fields } = { ...sampleRuleFields(), ownerId: anna.user.id };
    const stored = await world.registry.notificationRules.create(
      { ...fields, ownerId, eventKinds: ['geofence-enter', 'speeding'] },
      null,
    );
    const path = `${RULES}/${stored.id}`;
    expect((await world.call('GET', path, { jwt: anna.jwt })).body.eventKinds).toEqual(['geofence-enter', 'speeding']);
    const patch = (body: object) => world.call('PATCH', path, { jwt: anna.jwt, body });
    expect((await patch({ name: 'Other' })).body.eventKinds).toEqual(['geofence-enter', 'speeding']);
    const refused = await patch({ eventKinds: ['geofence-enter'] });
    expect([refused.status, pointers(refused)]).toEqual([400, ['/eventKinds/0']]);
  });

  test('when a rule last notified, and how many of its deliveries failed, is listed with it', async () => {
    const { body } = await add(rule({ webhook: { url: HOOK } }));
    const made = await ruleOf(body.id);
    await notify(made, [visit(car, depot, world.nowMs), visit(car, depot, world.nowMs + 1)]);
    const slots = new DeliverySlots(deliveryShares(64, 1));
    const [leased] = await world.registry.deliveries.lease({ slots, leaseMs: 60_000 });
    if (leased === undefined) throw new Error('nothing is due');
    await world.registry.deliveries.settle(leased, { state: 'failed', error: 'No.', status: 410 }, 'prompt');
    const shown = { lastNotifiedAt: '2026-01-15T12:00:00.000Z', failedDeliveries: 1 };
    expect((await world.call('GET', `${RULES}/${body.id}`, { jwt: anna.jwt })).body).toMatchObject(shown);
    expect((await world.call('GET', RULES, { jwt: anna.jwt })).body.items).toMatchObject([shown]);
    expect((await world.call('GET', `${RULES}?ownerId=${anna.user.id}`, { jwt: boss.jwt })).body.items).toHaveLength(1);
    expect((await world.call('GET', `${RULES}?ownerId=${boss.user.id}`, { jwt: boss.jwt })).body.items).toEqual([]);
    expect((await world.call('GET', `${RULES}?ownerId=${anna.user.id}`, { jwt: ben.jwt })).body.items).toEqual([]);
    // A week later the failure is no longer counted.
    world.nowMs += 8 * 24 * HOUR_MS;
    anna.jwt = await world.tokenOf(anna.user);
    expect((await world.call('GET', `${RULES}/${body.id}`, { jwt: anna.jwt })).body.failedDeliveries).toBe(0);
  });

  test('a rule that names nothing any more says so, and can not be switched on before it names something', async () => {
    const { body } = await add(rule({ geofenceIds: [depot] }));
    await world.call('DELETE', `/api/v1/geozones/${depot}`, { jwt: anna.jwt });
    const path = `${RULES}/${body.id}`;
    const emptied = (await world.call('GET', path, { jwt: anna.jwt })).body;
    expect(emptied).toMatchObject({ active: false, inactiveReason: 'geofences-deleted', geofenceIds: [] });
    const patch = (change: object) => world.call('PATCH', path, { jwt: anna.jwt, body: change });
    const refused = await patch({ active: true });
    expect([refused.status, pointers(refused)]).toEqual([409, ['/active']]);
    expect((await patch({ active: true, geofenceIds: null })).body).toMatchObject({
      active: true,
      inactiveReason: null,
    });
  });
});

describe('trying a rule', () => {
  test('lists the events of the last week that it would have notified of, and why not the rest', async () => {
    const at = (hoursAgo: number) => world.nowMs - hoursAgo * HOUR_MS;
    world.eventsAnswer = [
      visit(car, depot, at(1)),
      visit(car, depot, at(1.1)),
      { ...visit(car, depot, at(15), at(14.5)), startLatitude: 59.5, startLongitude: 30.25 },
      visit(car, depot, at(30)),
      { ...visit(car, depot, at(31)), kind: 'trip' } as unknown as FleetEvent,
      // Nobody's business but others'.
      visit(car, bensZone, at(2)),
      visit(hidden, depot, at(3)),
      visit(car, ABSENT as GeofenceId, at(4)),
    ];
    const { body } = await add(
      rule({ active: false, minIntervalMinutes: 30, hours: { from: '08:00', to: '22:00' }, maxDataAgeMinutes: 1 }),
    );
    const trial = await world.call('POST', `${RULES}/${body.id}/test`, { jwt: anna.jwt });
    expect(trial.status).toBe(200);
    expect(trial.body).toMatchObject({
      from: '2026-01-08T12:00:00.000Z',
      to: '2026-01-15T12:00:00.000Z',
      examined: 5,
      complete: true,
      firstEventAt: new Date(at(4)).toISOString(),
      days: [
        { date: '2026-01-14', count: 1 },
        { date: '2026-01-15', count: 1 },
      ],
    });
    const times = (events: { startedAt: string }[]) => events.map(({ startedAt }) => startedAt);
    // 15 h before noon is 21:00; 1.1 h before matches, 1 h before comes too soon after it; 30 h before is 06:00.
    expect(times(trial.body.matched)).toEqual(['2026-01-15T10:54:00.000Z', '2026-01-14T21:00:00.000Z']);
    // As it began: where that was, too.
    expect(trial.body.matched[1]).toMatchObject({
      phase: 'begin',
      endedAt: null,
      endReason: null,
      latitude: 59.5,
      longitude: 30.25,
    });
    const reasons = Object.fromEntries(
      trial.body.notMatched.map(({ reason, count, examples }: { reason: string; count: number; examples: never[] }) => [
        reason,
        [count, ...times(examples)],
      ]),
    );
    expect(reasons).toEqual({
      'other-kind': [1, '2026-01-14T05:00:00.000Z'],
      'other-hours': [1, '2026-01-14T06:00:00.000Z'],
      'too-soon': [1, '2026-01-15T11:00:00.000Z'],
    });
    expect(world.eventsAsked).toEqual([
      {
        vehicleIds: [car],
        kinds: ['geofence-visit'],
        geofenceIds: null,
        fromMs: world.nowMs - 7 * 24 * HOUR_MS,
        toMs: world.nowMs,
        limit: 10_000,
      },
    ]);
  });

  test('asks for ends as the rule does, and leaves the rule as it was', async () => {
    const beganMs = world.nowMs - 10 * HOUR_MS;
    world.eventsAnswer = [visit(car, depot, beganMs, beganMs + HOUR_MS), visit(car, depot, beganMs + 2 * HOUR_MS)];
    const { body } = await add(rule({ phases: ['end'] }));
    const trial = await world.call('POST', `${RULES}/${body.id}/test`, { jwt: anna.jwt });
    expect(trial.body.matched).toMatchObject([{ phase: 'end', endedAt: '2026-01-15T03:00:00.000Z' }]);
    expect(trial.body.examined).toBe(1);
    const { body: both } = await world.call('PATCH', `${RULES}/${body.id}`, {
      jwt: anna.jwt,
      body: { phases: ['begin', 'end'] },
    });
    expect(both.active).toBe(true);
    const phases = (await world.call('POST', `${RULES}/${body.id}/test`, { jwt: anna.jwt })).body.matched.map(
      ({ phase }: { phase: string }) => phase,
    );
    expect(phases).toEqual(['begin', 'end', 'begin']);
  });

  test('a rule that is not saved is tried with the rights of its owner to be', async () => {
    const { geofenceId: _, ...plain } = visit(car, depot, world.nowMs - HOUR_MS) as GeofenceVisit;
    const sos = { ...plain, kind: 'alarm', alarm: 'sos' };
    world.eventsAnswer = [
      sos as unknown as FleetEvent,
      { ...sos, alarm: 'towing' } as unknown as FleetEvent,
      { ...sos, vehicleId: hidden } as unknown as FleetEvent,
    ];
    const tryOut = (body: object, { jwt } = anna) => world.call('POST', `${RULES}/test`, { jwt, body });
    const draft = { eventKinds: ['alarm'], alarms: ['sos'], vehicleIds: [car], timeZone: 'Asia/Tokyo' };
    const trial = await tryOut(draft);
    expect(trial.body).toMatchObject({
      examined: 2,
      matched: [{ alarm: 'sos' }],
      days: [{ date: '2026-01-15', count: 1 }],
      notMatched: [{ reason: 'other-alarm', count: 1 }],
    });
    expect((await world.call('GET', RULES, { jwt: anna.jwt })).body.items).toEqual([]);
    const wrong = await tryOut({ ...draft, vehicleIds: [hidden] });
    expect([wrong.status, pointers(wrong)]).toEqual([400, ['/vehicleIds/0']]);
    expect((await tryOut({ ...draft, eventKinds: ['geofence-enter'] })).status).toBe(400);
    // As a change of Anna's rule an operator sees what she would be notified of.
    const { body: hers } = await add(rule());
    expect((await tryOut({ eventKinds: ['alarm'] }, boss)).body.examined).toBe(3);
    expect((await tryOut({ eventKinds: ['alarm'], ruleId: hers.id }, boss)).body.examined).toBe(2);
    expect((await tryOut({ eventKinds: ['alarm'], ruleId: hers.id }, ben)).status).toBe(404);
  });

  test('who may see nothing has nothing to try it on', async () => {
    const carl = await world.member('carl');
    const { body } = await add(rule(), carl);
    world.eventsAnswer = [visit(car, depot, world.nowMs - HOUR_MS)];
    const trial = await world.call('POST', `${RULES}/${body.id}/test`, { jwt: carl.jwt });
    expect(trial.body).toMatchObject({ examined: 0, complete: true, matched: [], notMatched: [] });
    expect(world.eventsAsked).toEqual([]);
  });
});

describe('testing a channel', () => {
  const webhook = { channel: 'webhook' };
  const ask = (id: string, body: object, as = anna) =>
    world.call('POST', `${RULES}/${id}/channel-tests`, { jwt: as.jwt, body });

  test('a test is noted, and its result is shown to who asked for it', async () => {
    const { body } = await add(rule({ webhook: { url: HOOK }, emails: ['anna@example.org'] }));
    const asked = await ask(body.id, { channel: 'email', address: 'anna@example.org' });
    expect(asked.status).toBe(202);
    expect(asked.body).toMatchObject({ channel: 'email', target: 'anna@example.org', state: 'pending' });
    const path = `${RULES}/${body.id}/channel-tests`;
    const [leased] = await world.registry.channelTests.lease(10, 60_000);
    if (leased === undefined) throw new Error('nothing is due');
    expect(await world.registry.channelTests.lease(10, 60_000)).toEqual([]);
    await world.registry.channelTests.settle(leased, { state: 'failed', error: 'No such mailbox.', status: 550 });
    expect((await world.call('GET', path, { jwt: anna.jwt })).body.items).toMatchObject([
      {
        id: asked.body.id,
        state: 'failed',
        lastError: 'No such mailbox.',
        responseStatus: 550,
        finishedAt: '2026-01-15T12:00:00.000Z',
      },
    ]);
    expect((await world.call('GET', path, { jwt: ben.jwt })).status).toBe(404);
    expect((await world.call('GET', path, { jwt: boss.jwt })).body.items).toEqual([]);
    expect((await ask(body.id, webhook, ben)).status).toBe(404);
  });

  test('only what the rule names is tested, and few times a minute', async () => {
    const { body } = await add(rule({ webhook: { url: HOOK } }));
    const wrong = await ask(body.id, { channel: 'email', address: 'ben@example.org' });
    expect([wrong.status, pointers(wrong)]).toEqual([400, ['/address']]);
    for (let n = 0; n < MAX_TESTS_PER_MINUTE; n += 1) expect((await ask(body.id, webhook)).status).toBe(202);
    const refused = await ask(body.id, webhook);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60']);
    world.nowMs += 60_000;
    expect((await ask(body.id, webhook)).status).toBe(202);
    const { body: without } = await add(rule({ name: 'Without' }));
    const none = await ask(without.id, webhook);
    expect([none.status, pointers(none)]).toEqual([400, ['/channel']]);
  });

  test('a test whose worker died has failed: it may have been sent', async () => {
    const { body } = await add(rule({ webhook: { url: HOOK } }));
    await ask(body.id, webhook);
    expect(await world.registry.channelTests.lease(10, 60_000)).toHaveLength(1);
    world.nowMs += 60_001;
    expect(await world.registry.channelTests.lease(10, 60_000)).toEqual([]);
    const path = `${RULES}/${body.id}/channel-tests`;
    expect((await world.call('GET', path, { jwt: anna.jwt })).body.items).toMatchObject([{ state: 'failed' }]);
  });
});

describe('the inbox', () => {
  const list = async (query = '', as = anna) => world.call('GET', `/api/v1/notifications${query}`, { jwt: as.jwt });
  const numbers = (answer: { body: { items: { number: number }[] } }) => answer.body.items.map(({ number }) => number);

  test('is listed from the newest on, in pages, by time and by what is read', async () => {
    const made = await ruleOf((await add(rule())).body.id);
    for (let n = 0; n < 5; n += 1) {
      await notify(made, [visit(car, depot, world.nowMs)]);
      world.nowMs += HOUR_MS;
    }
    anna.jwt = await world.tokenOf(anna.user);
    const first = await list('?limit=2');
    expect(numbers(first)).toEqual([5, 4]);
    expect(first.body.unreadCount).toBe(5);
    expect(first.body.items[0]).toMatchObject({
      ruleName: 'Visits',
      vehicleName: 'Car',
      geofenceName: 'Depot',
      createdAt: '2026-01-15T16:00:00.000Z',
      readAt: null,
      event: { kind: 'geofence-visit', vehicleId: car, geofenceId: depot, startedAt: '2026-01-15T16:00:00.000Z' },
    });
    const second = await list(`?limit=2&cursor=${first.body.nextCursor}`);
    const third = await list(`?limit=2&cursor=${second.body.nextCursor}`);
    expect([...numbers(second), ...numbers(third), third.body.nextCursor]).toEqual([3, 2, 1, null]);
    expect(numbers(await list('?from=2026-01-15T13:00:00Z&to=2026-01-15T15:00:00Z'))).toEqual([3, 2]);
    expect((await list('?from=2026-01-15T13:00:00Z&to=2026-01-15T13:00:00Z')).status).toBe(400);
    expect((await list('?cursor=nonsense')).status).toBe(400);

    const { id } = second.body.items[0];
    const read = await world.call('POST', `/api/v1/notifications/${id}/read`, { jwt: anna.jwt });
    expect(read.body).toMatchObject({ id, number: 3, readAt: new Date(world.nowMs).toISOString() });
    expect(numbers(await list('?unread=true'))).toEqual([5, 4, 2, 1]);
    expect(numbers(await list('?unread=false'))).toEqual([3]);
    const some = await world.call('POST', '/api/v1/notifications/read-all?upTo=4', { jwt: anna.jwt });
    expect(some.body).toEqual({ marked: 3 });
    expect((await list()).body.unreadCount).toBe(1);
    const all = await world.call('POST', '/api/v1/notifications/read-all', { jwt: anna.jwt });
    expect([all.body, (await list()).body.unreadCount]).toEqual([{ marked: 1 }, 0]);
  });

  test('is narrowed to a kind of event, a vehicle and a rule', async () => {
    const van = await newVehicle('Van', anna.user.groupIds);
    const made = await ruleOf((await add(rule())).body.id);
    const other = await ruleOf((await add(rule({ name: 'Trips', eventKinds: ['trip'] }))).body.id);
    await notify(made, [visit(car, depot, world.nowMs), visit(van, depot, world.nowMs)]);
    await notify(other, [{ ...visit(car, depot, world.nowMs + 1), kind: 'trip' } as unknown as FleetEvent]);
    expect(numbers(await list('?kind=trip'))).toEqual([3]);
    expect(numbers(await list(`?vehicleId=${car}`))).toEqual([3, 1]);
    expect(numbers(await list(`?vehicleId=${car}&kind=geofence-visit`))).toEqual([1]);
    expect(numbers(await list(`?ruleId=${made.id}`))).toEqual([2, 1]);
    expect((await list('?kind=geofence-enter')).status).toBe(400);
  });

  test('keeps the names of a geozone and a vehicle that were deleted', async () => {
    const made = await ruleOf((await add(rule())).body.id);
    await notify(made, [visit(car, depot, world.nowMs)]);
    await world.registry.geofences.delete(depot, null);
    await world.registry.vehicles.delete(car, null);
    expect((await list()).body.items).toMatchObject([{ vehicleName: 'Car', geofenceName: 'Depot' }]);
  });

  test('is its user’s own, even for an operator', async () => {
    const made = await ruleOf((await add(rule())).body.id);
    await notify(made, [visit(car, depot, world.nowMs)]);
    const { id } = (await list()).body.items[0];
    for (const other of [ben, boss]) {
      expect((await list('', other)).body).toEqual({ items: [], nextCursor: null, unreadCount: 0 });
      expect((await world.call('POST', `/api/v1/notifications/${id}/read`, { jwt: other.jwt })).status).toBe(404);
      expect((await world.call('POST', '/api/v1/notifications/read-all', { jwt: other.jwt })).body).toEqual({
        marked: 0,
      });
    }
    expect((await list()).body.unreadCount).toBe(1);
  });

  test('holds nothing about what the user may no longer see, and keeps notifications about deleted things', async () => {
    const van = await newVehicle('Van', anna.user.groupIds);
    const made = await ruleOf((await add(rule({ webhook: { url: HOOK } }))).body.id);
    await notify(made, [visit(car, depot, world.nowMs), visit(van, depot, world.nowMs)]);
    const [ofVan, ofCar] = (await list()).body.items;
    const deliveries = await world.call('GET', '/api/v1/webhook-deliveries', { jwt: anna.jwt });
    await notify(made, [visit(car, depot, world.nowMs + HOUR_MS)]);
    expect((await list()).body.unreadCount).toBe(3);
    await world.registry.vehicles.update(car, null, { groupIds: [] });
    expect(numbers(await list())).toEqual([ofVan.number]);
    expect((await list()).body.unreadCount).toBe(1);
    expect((await world.call('POST', `/api/v1/notifications/${ofCar.id}/read`, { jwt: anna.jwt })).status).toBe(404);
    for (const delivery of deliveries.body.items)
      expect(
        (await world.call('POST', `/api/v1/webhook-deliveries/${delivery.id}/resend`, { jwt: anna.jwt })).status,
      ).toBe(delivery.notificationId === ofCar.id ? 404 : 202);
    const listed = await world.call('GET', '/api/v1/webhook-deliveries', { jwt: anna.jwt });
    for (const { notificationId, notification } of listed.body.items)
      expect(notification?.vehicleName ?? null).toBe(notificationId === ofVan.id ? 'Car' : null);
    await world.registry.vehicles.delete(van, null);
    expect(numbers(await list())).toEqual([ofVan.number]);
    expect((await list()).body.unreadCount).toBe(1);
  });
});

describe('deliveries', () => {
  const list = (query = '', as = anna) => world.call('GET', `/api/v1/webhook-deliveries${query}`, { jwt: as.jwt });

  test('are listed by channel, state, rule and time, and sent again', async () => {
    const first = await ruleOf((await add(rule({ webhook: { url: HOOK }, emails: ['anna@example.org'] }))).body.id);
    const second = await ruleOf((await add(rule({ name: 'Other', webhook: { url: HOOK } }))).body.id);
    await notify(first, [visit(car, depot, world.nowMs)]);
    world.nowMs += HOUR_MS;
    for (const member of [anna, ben]) member.jwt = await world.tokenOf(member.user);
    await notify(second, [visit(car, depot, world.nowMs)]);
    const slots = new DeliverySlots(deliveryShares(64, 1));
    const leased = await world.registry.deliveries.lease({ slots, leaseMs: 60_000 });
    for (const each of leased)
      await world.registry.deliveries.settle(
        each,
        { state: 'failed', error: 'The endpoint answered 410.', status: 410 },
        'prompt',
      );

    const all = await list('?channel=any');
    expect(all.body.items).toHaveLength(3);
    const targets = (answer: typeof all) => answer.body.items.map(({ target }: { target: string }) => target);
    expect(targets(await list())).toEqual([hiddenUrl(HOOK), hiddenUrl(HOOK)]);
    expect(targets(await list('?channel=email'))).toEqual(['anna@example.org']);
    expect((await list(`?ruleId=${second.id}`)).body.items).toMatchObject([{ ruleId: second.id }]);
    expect((await list('?to=2026-01-15T12:30:00Z')).body.items).toMatchObject([{ ruleId: first.id }]);
    const page = await list('?limit=1');
    expect((await list(`?limit=1&cursor=${page.body.nextCursor}`)).body).toMatchObject({
      items: [{ ruleId: first.id }],
      nextCursor: null,
    });
    const [failed] = (await list('?state=failed')).body.items;
    expect(failed).toMatchObject({
      channel: 'webhook',
      attempts: 1,
      lastError: 'The endpoint answered 410.',
      responseStatus: 410,
      nextAttemptAt: null,
      finishedAt: '2026-01-15T13:00:00.000Z',
      attemptLog: [{ at: '2026-01-15T13:00:00.000Z', error: 'The endpoint answered 410.', responseStatus: 410 }],
      notification: { vehicleName: 'Car', event: { kind: 'geofence-visit', vehicleId: car } },
    });
    const path = `/api/v1/webhook-deliveries/${failed.id}/resend`;
    expect((await world.call('POST', path, { jwt: ben.jwt })).status).toBe(404);
    const again = await world.call('POST', path, { jwt: anna.jwt });
    expect(again.status).toBe(202);
    expect(again.body).toMatchObject({ state: 'pending', attempts: 0, nextAttemptAt: '2026-01-15T13:00:00.000Z' });
    expect((await list('', ben)).body.items).toEqual([]);
    expect((await world.call('POST', `/api/v1/webhook-deliveries/${ABSENT}/resend`, { jwt: anna.jwt })).status).toBe(
      404,
    );
  });
});

test('where it is allowed, webhooks may stay inside the own network', async () => {
  const inside = await World.open({ allowPrivateWebhooks: true });
  const { jwt } = await inside.member('anna');
  const body = rule({ webhook: { url: 'http://10.0.0.7/hook' } });
  expect((await inside.call('POST', RULES, { jwt, body })).status).toBe(201);
  await inside.close();
});
