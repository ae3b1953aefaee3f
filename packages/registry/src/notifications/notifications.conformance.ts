import {
  type DriverId,
  deriveEventId,
  type GeofenceId,
  type GroupId,
  hiddenUrl,
  type LicenceExpiry,
  type NotificationId,
  type NotificationRule,
  type NotificationRuleId,
  type UserId,
  type VehicleId,
} from '@outrider/domain';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  ABSENT,
  ALL,
  CAR,
  geofenceFields,
  PASSWORD,
  ruleFields as rule,
  userFields,
  vehicleFields,
  visit,
} from '../fleet/fields.fixture.ts';
import {
  ConflictError,
  DeliverySlots,
  deliveryShares,
  NamesNothingError,
  NotFoundError,
  type NotificationDraft,
  type NotificationRuleFields,
  type Registry,
  StaleError,
  UnknownReferenceError,
} from '../index.ts';
import { type Place, registryPerTest } from '../test-registry.fixture.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const HOUR_MS = 3_600_000;

/** What every adapter of the registry promises of rules, inboxes and deliveries. */
export function notificationsConformance(name: string, newPlace: () => Promise<Place>): void {
  describe(`notifications on ${name}`, () => {
    const env = registryPerTest(newPlace);
    let anna: UserId;

    const newUser = async (login: string) => (await env.registry.users.create(userFields(login), PASSWORD)).id;

    beforeEach(async () => {
      anna = await newUser('anna');
    });
    const addRule = (more: Partial<NotificationRuleFields> = {}, name = 'Rule') =>
      env.registry.notificationRules.create(rule(name, anna, more), more.webhookUrl ? SECRET : null);
    const addVehicle = (name: string) => env.registry.vehicles.create(vehicleFields(name));
    const addGeofence = (name: string) => env.registry.geofences.create(geofenceFields(name, anna));

    const draft = (offset: number, of: NotificationRule, event = visit(offset)): NotificationDraft => ({
      offset,
      rule: of,
      event,
      vehicleName: 'Van 7',
      geofenceName: null,
    });
    const record = (next: number, drafts: readonly NotificationDraft[], partition = 0) =>
      env.registry.notifications.record({ consumer: 'test', partition, next, drafts });
    const inbox = async (userId = anna) => (await env.registry.inboxes.after(userId, 0, 1000)).map((n) => n.number);

    describe('licences', () => {
      const LAST_DAY = '2027-05-31';
      const addDriver = (name: string) =>
        env.registry.drivers.create({
          ...{ name, dealerId: null, groupIds: [], codes: [], phone: null, licenceNumber: null },
          licenceExpiresOn: LAST_DAY,
        });
      const licenceDraft = (of: NotificationRule, driverId: DriverId, more: Partial<LicenceExpiry> = {}) => ({
        rule: of,
        driverName: 'Anna',
        event: {
          ...{
            id: deriveEventId('licence-expiry', driverId, JSON.stringify(more), 0),
            kind: 'licence-expiry' as const,
          },
          ...{ phase: 'begin' as const, vehicleId: null, driverId, stage: 'expires-soon' as const },
          ...{ licenceExpiresOn: LAST_DAY, startedAtMs: 0, endedAtMs: null },
          ...more,
        },
      });

      test('each stage is saved once, whoever saves it, for as long as rule and driver exist', async () => {
        const made = await addRule({ eventKinds: ['licence-expiry'], emails: ['anna@example.org'] });
        const { id } = await addDriver('Anna');
        const { notifications } = env.registry;
        const draft = licenceDraft(made, id);
        const all = await Promise.all([1, 2, 3, 4].map(() => notifications.recordLicence(draft)));
        expect(all.filter((each) => each !== null)).toHaveLength(1);
        expect(await env.registry.inboxes.unread(anna)).toEqual([
          { vehicleId: null, geofenceId: null, driverId: id, count: 1 },
        ]);
        expect(await env.registry.inboxes.after(anna, 0, 10)).toMatchObject([
          { number: 1, vehicleName: null, driverName: 'Anna', event: draft.event },
        ]);
        expect((await env.registry.deliveries.list(anna, {}, ALL)).items).toHaveLength(1);
        await env.reopen();
        await env.registry.notifications.forget({ beforeMs: Number.MAX_SAFE_INTEGER, maxPerUser: 1, limit: 10 });
        expect(await env.registry.notifications.recordLicence(draft)).toBe(null);
        const expired = licenceDraft(made, id, { stage: 'expired' });
        expect(await env.registry.notifications.recordLicence(expired)).toMatchObject({
          number: 2,
          event: { stage: 'expired' },
        });
      });

      test('nothing is saved by a rule or of a driver that has changed; the name goes with the driver', async () => {
        const made = await addRule({ eventKinds: ['licence-expiry'] });
        const { id } = await addDriver('Anna');
        const { notifications, drivers, notificationRules } = env.registry;
        const { event } = licenceDraft(made, id);
        expect(await notifications.recordLicence(licenceDraft(made, id, { licenceExpiresOn: '2027-06-30' }))).toBe(
          null,
        );
        expect(await notifications.recordLicence(licenceDraft({ ...made, version: 2 }, id))).toBe(null);
        expect(await notifications.recordLicence(licenceDraft(made, id))).toMatchObject({ driverName: 'Anna', event });
        await drivers.delete(id, null);
        expect(await env.registry.inboxes.after(anna, 0, 10)).toMatchObject([{ driverName: null }]);
        expect(await notifications.recordLicence(licenceDraft(made, id, { stage: 'expired' }))).toBe(null);
        const { id: ben } = await addDriver('Ben');
        await notificationRules.delete(made.id, null);
        expect(await notifications.recordLicence(licenceDraft(made, ben))).toBe(null);
      });
    });

    describe('events that last', () => {
      const wait = (of: NotificationRule, minute: number, minutes: number) => {
        const event = visit(minute);
        const dueMs = event.startedAtMs + minutes * 60_000;
        return { ruleId: of.id, event, dueMs, consumer: 'test', partition: 0 };
      };

      test('what waits is saved with the offset, found when it is due, and taken once', async () => {
        const made = await addRule({ minDurationMinutes: 10 });
        const other = await addRule({ name: 'Other', minDurationMinutes: 20 });
        const waiting = [wait(made, 0, 10), wait(other, 0, 20), wait(made, 5, 10)];
        const batch = { consumer: 'test', partition: 0, next: 3, drafts: [], waiting };
        await env.registry.notifications.record(batch);
        // The same batch again, after a crash: nothing comes twice.
        await env.registry.notifications.record(batch);
        const noonMs = visit(0).startedAtMs;
        const due = (minute: number) => env.registry.waitingNotifications.due(noonMs + minute * 60_000, null, 10);
        expect(await due(9)).toEqual([]);
        expect(await due(15)).toEqual([waiting[0], waiting[2]]);
        expect(await env.registry.waitingNotifications.due(noonMs + 3_600_000, waiting[0] ?? null, 1)).toEqual([
          waiting[2],
        ]);
        const drafts = [made, other].map((rule) => ({ ...draft(0, rule, visit(0)), lastedMs: 600_000 }));
        const [first, second] = await Promise.all([
          env.registry.notifications.recordWaited(drafts),
          env.registry.notifications.recordWaited(drafts),
        ]);
        expect([...first, ...second].map(({ ruleId, lastedMs }) => [ruleId, lastedMs])).toEqual(
          [made.id, other.id].sort().map((id) => [id, 600_000]),
        );
        expect(await inbox()).toEqual([1, 2]);
        expect(await env.registry.waitingNotifications.ofEvents([visit(0).id])).toEqual([]);
        expect(await env.registry.waitingNotifications.ofEvents([visit(5).id])).toEqual([waiting[2]]);
        await env.registry.notificationRules.delete(made.id, null);
        expect(await due(1000)).toEqual([]);
      });

      test('the interval of a rule counts from when it was notified, not from when the event began', async () => {
        const rule = await addRule({ minDurationMinutes: 60, minIntervalMinutes: 30 });
        await env.registry.notifications.record({
          consumer: 'test',
          partition: 0,
          next: 2,
          drafts: [],
          waiting: [wait(rule, 0, 60)],
        });
        const lasted = { ...draft(0, rule, visit(0)), lastedMs: 3_600_000 };
        expect(await env.registry.notifications.recordWaited([lasted])).toHaveLength(1);
        expect(await record(90, [draft(89, rule, visit(89))])).toHaveLength(0);
        expect(await record(92, [draft(91, rule, visit(91))])).toHaveLength(1);
      });
    });

    describe('rules', () => {
      test('a rule is kept whole, and changes with an outbox record and a line of the audit trail', async () => {
        const car = await addVehicle('Car');
        const van = await addVehicle('Van');
        const depot = await addGeofence('Depot');
        const made = await addRule({
          vehicleIds: [van.id, car.id, van.id],
          geofenceIds: [depot.id],
          days: { on: 'weekdays', weekdays: ['monday', 'friday'] },
          hours: { from: '22:00', to: '06:00' },
          timeZone: 'Europe/Berlin',
          minIntervalMinutes: 7.5,
          maxDataAgeMinutes: 30,
          phases: ['begin', 'end'],
          alarms: ['sos', 'towing'],
          sensors: ['Cargo'],
          emails: ['anna@example.org'],
          webhookUrl: 'https://example.org/hook',
        });
        expect(made).toMatchObject({ version: 1, vehicleIds: [car.id, van.id].sort(), inactiveReason: null });
        expect(await env.registry.notificationRules.get(made.id)).toEqual(made);
        expect((await env.registry.notificationRules.list({ ownerId: anna }, ALL)).items).toEqual([made]);
        const changed = await env.registry.notificationRules.update(made.id, 1, { name: 'Other', geofenceIds: null });
        expect(changed).toEqual({ ...made, version: 2, name: 'Other', geofenceIds: null });
        expect(await env.registry.notificationRules.get(made.id)).toEqual(changed);
        await env.registry.notificationRules.delete(made.id, 2);
        expect(await env.registry.notificationRules.get(made.id)).toBeNull();
        const published = (await env.registry.outbox.pending(100)).filter(({ change }) => change.id === made.id);
        expect(published.map(({ change }) => [change.version, change.definition])).toEqual([
          [1, made],
          [2, changed],
          [3, null],
        ]);
        const audited = await env.registry.audit.list({ subjectId: made.id }, ALL);
        expect(audited.items.map(({ action }) => action)).toEqual(['deleted', 'changed', 'created']);
      });

      test('no published form of a rule holds the URL of its webhook or its secret, which stay until others are given', async () => {
        const { notificationRules } = env.registry;
        const url = 'https://example.org/hook';
        const made = await addRule({ webhookUrl: url });
        await notificationRules.update(made.id, null, { name: 'Other', webhookUrl: made.webhookUrl });
        expect(await notificationRules.webhook(made.id)).toEqual({ url, secret: SECRET });
        await notificationRules.update(made.id, null, {}, `${SECRET}2`);
        expect(await notificationRules.webhook(made.id)).toEqual({ url, secret: `${SECRET}2` });
        const moved = await notificationRules.update(made.id, null, { webhookUrl: `${url}/2` });
        expect([moved.version, moved.webhookUrl]).toEqual([3, hiddenUrl(`${url}/2`)]);
        expect(await notificationRules.webhook(made.id)).toEqual({ url: `${url}/2`, secret: `${SECRET}2` });
        const published = [
          await env.registry.notificationRules.get(made.id),
          await env.registry.outbox.pending(100),
          await env.registry.snapshot(),
          await env.registry.audit.list({}, ALL),
        ];
        expect(JSON.stringify(published)).toContain('example.org/***');
        expect(JSON.stringify(published)).not.toContain('example.org/hook');
        expect(JSON.stringify(published)).not.toContain(SECRET);
        await notificationRules.update(made.id, null, { webhookUrl: null }, null);
        expect(await notificationRules.webhook(made.id)).toEqual({ url: null, secret: null });
      });

      test('a name is unique per owner, versions are kept, and what a rule names exists', async () => {
        const made = await addRule();
        await expect(addRule()).rejects.toBeInstanceOf(ConflictError);
        const ben = await newUser('ben');
        await env.registry.notificationRules.create(rule('Rule', ben), null);
        await expect(env.registry.notificationRules.update(made.id, 2, { name: 'x' })).rejects.toBeInstanceOf(
          StaleError,
        );
        await expect(env.registry.notificationRules.delete(made.id, 2)).rejects.toBeInstanceOf(StaleError);
        await expect(env.registry.notificationRules.delete(ABSENT as NotificationRuleId, null)).rejects.toBeInstanceOf(
          NotFoundError,
        );
        for (const lists of [
          { vehicleIds: [ABSENT as VehicleId] },
          { groupIds: [ABSENT as GroupId] },
          { geofenceIds: [ABSENT as GeofenceId] },
        ])
          await expect(env.registry.notificationRules.update(made.id, null, lists)).rejects.toBeInstanceOf(
            UnknownReferenceError,
          );
        await expect(addRule({ vehicleIds: [] }, 'Empty')).rejects.toBeInstanceOf(NamesNothingError);
        expect(await env.registry.notificationRules.get(made.id)).toEqual(made);
      });

      test('what is deleted goes out of the rules; one that then names none rests, and says why', async () => {
        const car = await addVehicle('Car');
        const van = await addVehicle('Van');
        const group = await env.registry.groups.create({ name: 'Group', dealerId: null });
        const depot = await addGeofence('Depot');
        const both = await addRule({ vehicleIds: [car.id], groupIds: [group.id] }, 'both');
        const two = await addRule({ vehicleIds: [car.id, van.id] }, 'two');
        const one = await addRule({ vehicleIds: [van.id] }, 'one');
        const grouped = await addRule({ groupIds: [group.id] }, 'grouped');
        const fenced = await addRule({ geofenceIds: [depot.id] }, 'fenced');
        const all = await addRule({}, 'all');
        const driver = await env.registry.drivers.create({
          ...{ name: 'Anna', dealerId: null, groupIds: [], codes: [] },
          ...{ phone: null, licenceNumber: null, licenceExpiresOn: null },
        });
        const driven = await addRule({ driverIds: [driver.id], driver: 'known' }, 'driven');
        const ofDrivers = await addRule({ driverGroupIds: [group.id] }, 'of drivers');
        expect(await env.registry.notificationRules.get(driven.id)).toEqual(driven);
        const state = async ({ id }: NotificationRule) => {
          const found = await env.registry.notificationRules.get(id);
          return found && [found.version, found.active, found.inactiveReason];
        };
        await env.registry.vehicles.delete(car.id, null);
        expect(await state(both)).toEqual([2, true, null]);
        expect(await state(two)).toEqual([2, true, null]);
        await env.registry.vehicles.delete(van.id, null);
        await env.registry.groups.delete(group.id, null);
        await env.registry.geofences.delete(depot.id, null);
        expect(await state(both)).toEqual([3, false, 'vehicles-deleted']);
        expect(await state(two)).toEqual([3, false, 'vehicles-deleted']);
        expect(await state(one)).toEqual([2, false, 'vehicles-deleted']);
        expect(await state(grouped)).toEqual([2, false, 'groups-deleted']);
        expect(await state(fenced)).toEqual([2, false, 'geofences-deleted']);
        expect(await state(ofDrivers)).toEqual([2, false, 'drivers-deleted']);
        expect(await state(driven)).toEqual([1, true, null]);
        await env.registry.drivers.delete(driver.id, null);
        expect(await state(driven)).toEqual([2, false, 'drivers-deleted']);
        expect(await state(all)).toEqual([1, true, null]);
        // Naming none is never naming all.
        expect(await env.registry.notificationRules.get(one.id)).toMatchObject({ vehicleIds: [] });
        await expect(env.registry.notificationRules.update(one.id, null, { active: true })).rejects.toBeInstanceOf(
          NamesNothingError,
        );
        const again = await addVehicle('Again');
        await env.registry.notificationRules.update(one.id, null, { vehicleIds: [again.id] });
        expect(await state(one)).toEqual([3, false, 'vehicles-deleted']);
        await env.registry.notificationRules.update(one.id, null, { active: true });
        expect(await state(one)).toEqual([4, true, null]);
        await env.registry.notificationRules.update(one.id, null, { active: false });
        expect(await state(one)).toEqual([5, false, 'switched-off']);
        const published = (await env.registry.outbox.pending(1000)).map(({ change }) => change);
        expect(published.filter(({ id }) => id === fenced.id).at(-1)?.definition).toMatchObject({ active: false });
      });

      test('with its owner go the rules, the inbox and the deliveries', async () => {
        const made = await addRule({ emails: ['anna@example.org'] });
        const depot = await addGeofence('Depot');
        await addRule({ geofenceIds: [depot.id] }, 'fenced');
        await record(1, [draft(0, made)]);
        await env.registry.users.delete(anna, null);
        expect(await env.registry.notificationRules.get(made.id)).toBeNull();
        expect(await inbox()).toEqual([]);
        // A rule that was evaluated just before: its owner is gone.
        expect(await record(2, [draft(1, made)])).toEqual([]);
      });
    });

    describe('the inbox', () => {
      test('each user has numbers of their own, growing by one', async () => {
        const ben = await newUser('ben');
        const ofAnna = await addRule();
        const ofBen = await env.registry.notificationRules.create(rule('Rule', ben), null);
        const made = await record(3, [draft(0, ofAnna), draft(1, ofBen, visit(1)), draft(2, ofAnna, visit(2))]);
        expect(made.map(({ userId, number }) => [userId, number])).toEqual([
          [anna, 1],
          [ben, 1],
          [anna, 2],
        ]);
        await record(4, [draft(3, ofAnna, visit(3))]);
        expect(await inbox()).toEqual([1, 2, 3]);
        expect(await env.registry.inboxes.after(anna, 1, 1)).toMatchObject([{ number: 2 }]);
        expect(await env.registry.inboxes.progress(anna)).toEqual({ lastNumber: 3, forgottenNumber: 0 });
        expect(await env.registry.inboxes.progress(ABSENT as UserId)).toEqual({
          lastNumber: 0,
          forgottenNumber: 0,
        });
        const [first] = made;
        expect(first && (await env.registry.inboxes.get(anna, first.id))).toEqual(first);
        expect(first && (await env.registry.inboxes.get(ben, first.id))).toBeNull();
        expect(first).toMatchObject({ event: visit(0), ruleName: 'Rule', vehicleName: 'Van 7', readAtMs: null });
      });

      test('an event gives one notification per rule and phase, however often it is recorded', async () => {
        const made = await addRule({ phases: ['begin', 'end'] });
        const other = await addRule({}, 'Other');
        const batch = [draft(0, made), draft(0, other), draft(1, made, visit(0, 'end')), draft(2, made, visit(0))];
        expect(await record(3, batch)).toHaveLength(3);
        expect(await record(3, batch)).toEqual([]);
        // As after a lost offset: the events come again at other offsets.
        const again = batch.map((each) => ({ ...each, offset: each.offset + 10 }));
        expect(await record(20, again)).toEqual([]);
        expect(await inbox()).toEqual([1, 2, 3]);
        // A consumer that was overtaken by another saves nothing and goes back nowhere.
        expect(await record(5, [draft(4, made, visit(30))])).toEqual([]);
        expect(await env.registry.notifications.places('test')).toEqual(new Map([[0, { offset: 20, identity: null }]]));
        expect(await env.registry.notifications.places('none')).toEqual(new Map());
        await env.registry.notifications.setPlace('test', 0, 'log', null);
        expect(await env.registry.notifications.places('test')).toEqual(
          new Map([[0, { offset: 20, identity: 'log' }]]),
        );
        // One that begins before the saved offset and ends after it adds only what is new.
        expect(await record(25, [draft(19, made, visit(31)), draft(20, made, visit(32))])).toMatchObject([
          { event: visit(32) },
        ]);
      });

      test('of many who record the same stretch at a time, one does', async () => {
        const made = await addRule();
        const batch = Array.from({ length: 50 }, (_, n) => draft(n, made));
        const results = await Promise.all(Array.from({ length: 6 }, () => record(50, batch)));
        expect(results.map(({ length }) => length).sort((a, b) => b - a)).toEqual([50, 0, 0, 0, 0, 0]);
        expect(await inbox()).toEqual(Array.from({ length: 50 }, (_, n) => n + 1));
      });

      test('partitions that notify the same users at the same time do not deadlock', async () => {
        const ben = await newUser('ben');
        const ofAnna = await addRule();
        const ofBen = await env.registry.notificationRules.create(rule('Rule', ben), null);
        await Promise.all(
          Array.from({ length: 12 }, (_, n) => {
            const drafts = [draft(0, ofAnna, visit(n)), draft(0, ofBen, visit(n))];
            return record(1, n % 2 ? drafts : drafts.toReversed(), n);
          }),
        );
        expect(await inbox()).toEqual(Array.from({ length: 12 }, (_, n) => n + 1));
        expect(await inbox(ben)).toEqual(Array.from({ length: 12 }, (_, n) => n + 1));
      });

      test('a rule with an interval notifies of a vehicle once in it, over batches and restarts', async () => {
        const van = '0190a000-0000-7000-8000-000000000002' as VehicleId;
        const spaced = await addRule({ minIntervalMinutes: 10 });
        const first = [0, 4, 10, 12].map((minute, nth) => draft(nth, spaced, visit(minute)));
        const made = await record(5, [...first, draft(4, spaced, visit(12, 'begin', van))]);
        expect(made.map(({ event }) => [event.vehicleId, new Date(event.startedAtMs).getUTCMinutes()])).toEqual([
          [CAR, 0],
          [CAR, 10],
          [van, 12],
        ]);
        await env.reopen();
        const later = [19, 20, 5].map((minute, nth) => draft(5 + nth, spaced, visit(minute)));
        expect((await record(8, later)).map(({ event }) => new Date(event.startedAtMs).getUTCMinutes())).toEqual([20]);
      });

      test('it is read one by one or all at once; what came since stays unread', async () => {
        const made = await addRule();
        const recorded = await record(
          5,
          [0, 1, 2, 3, 4].map((n) => draft(n, made)),
        );
        const id = recorded[1]?.id as NotificationId;
        env.nowMs += 1000;
        expect(await env.registry.inboxes.markRead(anna, id)).toMatchObject({ readAtMs: env.nowMs });
        env.nowMs += 1000;
        expect(await env.registry.inboxes.markRead(anna, id)).toMatchObject({ readAtMs: env.nowMs - 1000 });
        await expect(env.registry.inboxes.markRead(ABSENT as UserId, id)).rejects.toBeInstanceOf(NotFoundError);
        const unread = async () => (await env.registry.inboxes.unread(anna)).map(({ count }) => count);
        expect(await env.registry.inboxes.unread(anna)).toEqual([
          { vehicleId: CAR, geofenceId: ABSENT, driverId: null, count: 4 },
        ]);
        expect(await env.registry.inboxes.markAllRead(anna, 4)).toBe(3);
        expect(await unread()).toEqual([1]);
        const page = { limit: 10, after: null };
        const numbers = async (filter: Parameters<Registry['inboxes']['list']>[1]) =>
          (await env.registry.inboxes.list(anna, filter, page)).items.map(({ number }) => number);
        expect(await numbers({ unread: true })).toEqual([5]);
        expect(await numbers({ unread: false })).toEqual([4, 3, 2, 1]);
      });

      test('it is listed from the newest on, a page at a time, between two times', async () => {
        const made = await addRule();
        for (let n = 0; n < 5; n += 1) {
          await record(n + 1, [draft(n, made)]);
          env.nowMs += HOUR_MS;
        }
        const first = await env.registry.inboxes.list(anna, {}, { limit: 2, after: null });
        expect([first.items.map(({ number }) => number), first.next]).toEqual([[5, 4], 4]);
        const second = await env.registry.inboxes.list(anna, {}, { limit: 3, after: first.next });
        expect([second.items.map(({ number }) => number), second.next]).toEqual([[3, 2, 1], null]);
        const fromMs = env.nowMs - 4 * HOUR_MS;
        const some = await env.registry.inboxes.list(anna, { fromMs, toMs: fromMs + 2 * HOUR_MS }, ALL);
        expect(some.items.map(({ number }) => number)).toEqual([3, 2]);
      });

      test('the oldest are forgotten, and it is known up to which', async () => {
        const made = await addRule({ emails: ['anna@example.org'] });
        for (let n = 0; n < 6; n += 1) {
          await record(n + 1, [draft(n, made)]);
          env.nowMs += HOUR_MS;
        }
        const forget = (beforeMs: number, maxPerUser: number) =>
          env.registry.notifications.forget({ beforeMs, maxPerUser, limit: 10 });
        expect(await forget(env.nowMs - 5 * HOUR_MS, 100)).toBe(1);
        expect(await env.registry.inboxes.progress(anna)).toEqual({ lastNumber: 6, forgottenNumber: 1 });
        expect(await inbox()).toEqual([2, 3, 4, 5, 6]);
        while ((await forget(0, 3)) === 10);
        expect(await inbox()).toEqual([4, 5, 6]);
        expect(await env.registry.inboxes.progress(anna)).toEqual({ lastNumber: 6, forgottenNumber: 3 });
        expect((await env.registry.deliveries.list(anna, {}, ALL)).items).toHaveLength(3);
        while ((await forget(env.nowMs + 1, 3)) === 10);
        expect(await env.registry.inboxes.progress(anna)).toEqual({ lastNumber: 6, forgottenNumber: 6 });
        // Numbers go on growing: a cursor of before stays good.
        expect(await record(7, [draft(6, made, visit(40))])).toMatchObject([{ number: 7 }]);
      });

      test('an offset of a log that is gone can be set back', async () => {
        const made = await addRule();
        await record(100, [draft(99, made, visit(1))]);
        await env.registry.notifications.setPlace('test', 0, 'another log', 0);
        expect(await record(2, [draft(0, made, visit(1)), draft(1, made, visit(2))])).toMatchObject([
          { event: visit(2) },
        ]);
      });
    });

    test('a batch may be saved in parts: the offset moves with the last, and repeated events give one notification', async () => {
      const made = await addRule();
      const save = (offset: number, isPart: boolean) =>
        env.registry.notifications.record({
          consumer: 'test',
          partition: 0,
          next: 2,
          drafts: [draft(offset, made)],
          isPart,
        });
      expect(await save(1, true)).toHaveLength(1);
      expect(await env.registry.notifications.places('test')).not.toMatchObject(new Map([[0, { offset: 2 }]]));
      // The process died, and begins the batch again.
      expect(await save(1, true)).toEqual([]);
      expect(await save(0, false)).toHaveLength(1);
      expect((await env.registry.notifications.places('test')).get(0)?.offset).toBe(2);
      expect(await save(1, false)).toEqual([]);
      expect(await inbox()).toEqual([1, 2]);
    });

    describe('deliveries', () => {
      /** Of a worker that has just begun, unless `slots` says otherwise. */
      const lease = ({ perEndpoint = 2, slots = new DeliverySlots(deliveryShares(4000, perEndpoint)) } = {}) =>
        env.registry.deliveries.lease({ slots, leaseMs: 60_000 });
      const delivered = { state: 'delivered', status: 200 } as const;
      /** So that its endpoint is not tried by one delivery at a time. */
      const prove = async (rule: NotificationRule, offset: number) => {
        await record(offset + 1, [draft(offset, rule, visit(offset))]);
        const [leased] = await lease();
        if (!leased) throw new Error('one was due');
        await env.registry.deliveries.settle(leased, delivered, 'prompt');
      };

      test('each notification has one for every address', async () => {
        const made = await addRule({
          emails: ['anna@example.org', 'anna@Example.NET'],
          webhookUrl: 'https://hooks.example.org:8443/anna',
        });
        const [recorded] = await record(1, [draft(0, made)]);
        const { items } = await env.registry.deliveries.list(anna, {}, ALL);
        expect(items.map(({ channel, target }) => [channel, target]).sort()).toEqual([
          ['email', 'anna@Example.NET'],
          ['email', 'anna@example.org'],
          ['webhook', hiddenUrl('https://hooks.example.org:8443/anna')],
        ]);
        for (const item of items)
          expect(item).toMatchObject({
            notificationId: recorded?.id,
            state: 'pending',
            attempts: 0,
            nextAttemptAtMs: env.nowMs,
            finishedAtMs: null,
            lastError: null,
          });
        const leased = await lease();
        expect(leased.map(({ endpoint }) => endpoint).sort()).toEqual([
          'https://hooks.example.org:8443',
          'mailto:example.net',
          'mailto:example.org',
        ]);
        expect(leased[0]?.notification).toEqual(recorded);
        const webhooks = await env.registry.deliveries.list(anna, { channel: 'webhook', state: 'pending' }, ALL);
        expect(webhooks.items).toMatchObject([{ attempts: 1, ruleId: made.id }]);
      });

      test('no two workers have the same one, and a dead worker’s comes back when its lease is over', async () => {
        const made = await addRule({ emails: ['anna@example.org'] });
        await record(
          40,
          Array.from({ length: 40 }, (_, n) => draft(n, made)),
        );
        const workers = await Promise.all(Array.from({ length: 4 }, () => lease({ perEndpoint: 30 })));
        const ids = workers.flat().map(({ delivery }) => delivery.id);
        expect(new Set(ids).size).toBe(ids.length);
        const rest = await lease({ perEndpoint: 100 });
        expect(ids.length + rest.length).toBe(40);
        expect(await lease()).toEqual([]);
        env.nowMs += 60_000;
        const again = await lease({ perEndpoint: 100 });
        expect(again).toHaveLength(40);
        expect(again[0]?.delivery.attempts).toBe(2);
        // The dead worker was only slow: what it says now is not noted.
        const slow = workers.flat()[0];
        expect(slow && (await env.registry.deliveries.settle(slow, delivered, 'prompt'))).toBe(false);
      });

      test('a worker that takes long keeps what it renews, and nothing that it has settled or lost', async () => {
        const made = await addRule({ emails: ['anna@example.org'] });
        await record(3, [draft(0, made), draft(1, made), draft(2, made)]);
        const [kept, settled, lost] = await lease({ perEndpoint: 3 });
        if (!kept || !settled || !lost) throw new Error('three were due');
        await env.registry.deliveries.settle(settled, delivered, 'prompt');
        env.nowMs += 50_000;
        await env.registry.deliveries.renew([kept, settled], 60_000);
        env.nowMs += 50_000;
        const others = await lease();
        expect(others.map(({ delivery }) => delivery.id)).toEqual([lost.delivery.id]);
        await env.registry.deliveries.renew([lost], 600_000);
        env.nowMs += 70_000;
        expect((await lease({ perEndpoint: 3 })).map(({ delivery }) => delivery.id).sort()).toEqual(
          [kept.delivery.id, lost.delivery.id].sort(),
        );
      });

      test('an endpoint with many that wait keeps no other waiting', async () => {
        const loud = await addRule({ webhookUrl: 'https://loud.example.org/' }, 'loud');
        const quiet = await addRule({ webhookUrl: 'https://quiet.example.org/' }, 'quiet');
        await prove(loud, 0);
        await prove(quiet, 1);
        await record(
          60,
          Array.from({ length: 58 }, (_, n) => draft(2 + n, loud)),
        );
        await record(61, [draft(60, quiet)]);
        const slots = new DeliverySlots(deliveryShares(100, 2));
        const first = await lease({ slots });
        expect(first.map(({ endpoint }) => endpoint).sort()).toEqual([
          'https://loud.example.org',
          'https://loud.example.org',
          'https://quiet.example.org',
        ]);
        expect(await lease({ slots })).toEqual([]);
        const ended = first.find(({ endpoint }) => endpoint.includes('loud'));
        if (!ended) throw new Error('two of them');
        slots.release(ended.slot);
        expect(await lease({ slots })).toHaveLength(1);
      });

      test('where not all endpoints fit in, each has its turn', async () => {
        const hosts = ['a', 'b', 'c', 'd', 'e'];
        for (const [nth, host] of hosts.entries()) {
          const made = await addRule({ webhookUrl: `https://${host}.example.org/` }, host);
          await record(
            10 * (nth + 1),
            Array.from({ length: 5 }, (_, n) => draft(10 * nth + n, made, visit(n))),
          );
        }
        const served: string[] = [];
        for (let turn = 0; turn < 5; turn += 1)
          served.push(
            ...(await lease({ slots: new DeliverySlots(deliveryShares(8, 2)) })).map(({ endpoint }) => endpoint),
          );
        expect(served).toHaveLength(5);
        expect(new Set(served).size).toBe(5);
      });

      test('three hundred dead webhooks of one account delay no other account', async () => {
        const bob = await newUser('bob');
        const drafts: NotificationDraft[] = [];
        for (let nth = 0; nth < 300; nth += 1) {
          const webhookUrl = `https://dead-${nth}.example.org/`;
          drafts.push(draft(nth, await addRule({ webhookUrl }, `Dead ${nth}`), visit(nth)));
        }
        await record(300, drafts);
        const live = await env.registry.notificationRules.create(
          rule('Live', bob, { webhookUrl: 'https://live.example.org/' }),
          SECRET,
        );
        const slots = new DeliverySlots(deliveryShares(64, 4));
        const hanging = await lease({ slots });
        // Not one of them has proven to answer: they have few slots.
        expect(hanging).toHaveLength(4);
        expect(await lease({ slots })).toEqual([]);
        for (let nth = 300; nth < 310; nth += 1) {
          await record(nth + 1, [draft(nth, live, visit(nth))]);
          const [leased, ...others] = await lease({ slots });
          expect(leased?.endpoint).toBe('https://live.example.org');
          expect(others).toEqual([]);
          if (!leased) throw new Error('it was due');
          await env.registry.deliveries.settle(leased, delivered, 'prompt');
          slots.release(leased.slot);
        }
        // Once they have failed, all that waits for them waits on, and is no work for anybody.
        for (const each of hanging) {
          const nextAttemptAtMs = env.nowMs;
          await env.registry.deliveries.settle(
            each,
            { state: 'pending', error: 'no answer', status: null, nextAttemptAtMs },
            'silent',
          );
          slots.release(each.slot);
        }
        const tried = new Set(hanging.map(({ endpoint }) => endpoint));
        expect((await lease({ slots })).filter(({ endpoint }) => tried.has(endpoint))).toEqual([]);
      });

      test('tenants share the slots, and the accounts of a tenant what the tenant gets', async () => {
        const bob = await newUser('bob');
        const dealer = (await env.registry.users.create(userFields('dealer', { role: 'dealer' }), PASSWORD)).id;
        const staff = (await env.registry.users.create(userFields('staff', { dealerId: dealer }), PASSWORD)).id;
        let offset = 0;
        for (const ownerId of [dealer, staff, bob]) {
          const fields = rule(`Of ${ownerId}`, ownerId, {
            emails: Array.from({ length: 9 }, (_, n) => `a@${n}.example`),
          });
          const made = await env.registry.notificationRules.create(fields, null);
          for (let nth = 0; nth < 9; nth += 1, offset += 1)
            await record(offset + 1, [draft(offset, made, visit(offset))]);
        }
        const slots = new DeliverySlots({
          ...deliveryShares(8, 4),
          perTenant: 8,
          perAccount: 8,
          emails: 8,
          emailsPerTenant: 8,
        });
        const leased = await lease({ slots });
        const count = (userId: UserId) => leased.filter(({ delivery }) => delivery.userId === userId).length;
        expect([count(dealer), count(staff), count(bob)]).toEqual([2, 2, 4]);
      });

      test('an endpoint that does not answer is tried by one delivery at a time, later and later, whichever instance sends', async () => {
        const made = await addRule({ webhookUrl: 'https://hook.example.org/' });
        await record(
          9,
          Array.from({ length: 9 }, (_, n) => draft(n, made, visit(n))),
        );
        const failed = (leased: Awaited<ReturnType<typeof lease>>[number]) =>
          env.registry.deliveries.settle(
            leased,
            { state: 'pending', error: 'no answer', status: null, nextAttemptAtMs: env.nowMs },
            'silent',
          );
        for (const breakMs of [5000, 10_000, 20_000]) {
          // Two instances, each with slots of its own.
          const [one, two] = await Promise.all([lease(), lease()]);
          expect([...one, ...two]).toHaveLength(1);
          const [probe] = [...one, ...two];
          if (!probe) throw new Error('one of them tries');
          await failed(probe);
          env.nowMs += breakMs - 1;
          expect(await lease()).toEqual([]);
          env.nowMs += 1;
        }
        // It answers again: not after the first answer, but after some it is trusted with several at a time.
        let probes = 0;
        for (;;) {
          const leased = await lease({ perEndpoint: 4 });
          if (leased.length > 1) break;
          expect(leased).toHaveLength(1);
          const [probe] = leased;
          if (!probe) throw new Error('one of them tries');
          probes += 1;
          await env.registry.deliveries.settle(
            probe,
            { state: 'pending', error: 'busy', status: 503, nextAttemptAtMs: env.nowMs },
            'prompt',
          );
        }
        expect(probes).toBeGreaterThan(4);
      });

      test('it ends delivered, failed or cancelled, or is tried again at its time', async () => {
        const made = await addRule({ emails: ['anna@example.org'] });
        await record(
          4,
          [0, 1, 2, 3].map((n) => draft(n, made)),
        );
        const [a, b, c, d] = await lease({ perEndpoint: 4 });
        if (!a || !b || !c || !d) throw new Error('four were due');
        env.nowMs += 500;
        const settle = env.registry.deliveries.settle.bind(env.registry.deliveries);
        await settle(a, { state: 'delivered', status: 200 }, 'prompt');
        await settle(b, { state: 'failed', error: 'gone', status: 410 }, 'prompt');
        await settle(c, { state: 'cancelled', error: 'no such rule', status: null }, 'unknown');
        await settle(d, { state: 'pending', error: 'busy', status: 503, nextAttemptAtMs: env.nowMs + 5000 }, 'prompt');
        const state = async ({ delivery }: typeof a) => env.registry.deliveries.get(anna, delivery.id);
        const finishedAtMs = env.nowMs;
        expect(await state(a)).toMatchObject({
          state: 'delivered',
          responseStatus: 200,
          lastError: null,
          finishedAtMs,
        });
        expect(await state(b)).toMatchObject({ state: 'failed', responseStatus: 410, lastError: 'gone', finishedAtMs });
        expect(await state(c)).toMatchObject({ state: 'cancelled', nextAttemptAtMs: null });
        expect(await state(d)).toMatchObject({
          state: 'pending',
          lastError: 'busy',
          nextAttemptAtMs: env.nowMs + 5000,
          finishedAtMs: null,
        });
        expect(await env.registry.deliveries.settle(a, delivered, 'prompt')).toBe(false);
        env.nowMs += 4999;
        expect(await lease()).toEqual([]);
        env.nowMs += 1;
        expect((await lease()).map(({ delivery }) => delivery.id)).toEqual([d.delivery.id]);
      });

      test('it can be sent again, by its user alone, unless it is under way', async () => {
        const made = await addRule({ emails: ['anna@example.org'] });
        await record(1, [draft(0, made)]);
        const [leased] = await lease();
        if (!leased) throw new Error('one was due');
        const { id } = leased.delivery;
        expect(await env.registry.deliveries.resend(anna, id)).toMatchObject({ attempts: 1, state: 'pending' });
        expect(await lease()).toEqual([]);
        await env.registry.deliveries.settle(leased, { state: 'failed', error: 'gone', status: 410 }, 'prompt');
        await expect(env.registry.deliveries.resend(ABSENT as UserId, id)).rejects.toBeInstanceOf(NotFoundError);
        env.nowMs += 1000;
        expect(await env.registry.deliveries.resend(anna, id)).toMatchObject({
          state: 'pending',
          attempts: 0,
          nextAttemptAtMs: env.nowMs,
        });
        expect(await lease()).toMatchObject([{ delivery: { id }, giveUpAtMs: env.nowMs + 24 * HOUR_MS }]);
      });
    });
  });
}
