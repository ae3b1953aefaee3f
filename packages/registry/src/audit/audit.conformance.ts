import type { SessionId, TerminalId, User } from '@outrider/domain';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  ABSENT,
  ALL,
  geofenceFields,
  PASSWORD,
  ruleFields,
  userFields,
  vehicleFields,
} from '../fleet/fields.fixture.ts';
import { type Actor, type AuditFilter, ConflictError } from '../index.ts';
import { type Place, registryPerTest } from '../test-registry.fixture.ts';

/** What every adapter of the registry promises of the audit trail and the sessions in it. */
export function auditConformance(name: string, newPlace: () => Promise<Place>): void {
  describe(`audit trail on ${name}`, () => {
    const env = registryPerTest(newPlace);
    let boss: User;

    beforeEach(async () => {
      boss = await env.registry.users.create(userFields('boss', { role: 'operator' }), PASSWORD);
    });
    const as = (user: User, more: Partial<Actor> = {}) =>
      env.registry.as({ user, sessionId: null, address: '203.0.113.7', ...more });
    const trail = async (filter: AuditFilter = {}) => (await env.registry.audit.list(filter, ALL)).items;
    const said = async (filter: AuditFilter = {}) =>
      (await trail(filter)).map(({ action, subject }) => `${action} ${subject.name}`);
    const addDealer = (login: string) => env.registry.users.create(userFields(login, { role: 'dealer' }), PASSWORD);

    test('it says who changed what, when and from where, with the fields that changed, the newest first', async () => {
      const by = as(boss, { sessionId: ABSENT as SessionId });
      const truck = await by.vehicles.create(vehicleFields('One', { plate: 'X' }));
      env.nowMs += 1;
      await by.vehicles.update(truck.id, null, { plate: 'Y', name: 'One' });
      env.nowMs += 1;
      await by.vehicles.delete(truck.id, null);
      const made = {
        id: expect.any(String),
        user: { id: boss.id, login: 'boss', role: 'operator', dealerId: null },
        sessionId: ABSENT,
        apiKeyId: null,
        address: '203.0.113.7',
        subject: { kind: 'vehicle', id: truck.id, name: 'One' },
      };
      const { kind: _, id: __, version: ___, terminalAccess, ...rest } = truck;
      const { secretHash, registrationHash: ____, revision: _____, ...access } = terminalAccess;
      const fields = { ...rest, terminalAccess: { ...access, hasSecret: secretHash !== null } };
      expect(await trail({ subjectId: truck.id })).toEqual([
        { ...made, action: 'deleted', atMs: env.nowMs, before: { ...fields, plate: 'Y' }, after: null },
        { ...made, action: 'changed', atMs: env.nowMs - 1, before: { plate: 'X' }, after: { plate: 'Y' } },
        { ...made, action: 'created', atMs: env.nowMs - 2, before: null, after: fields },
      ]);
      // Nobody is said of what the service does by itself.
      expect(await trail({ subjectId: boss.id })).toMatchObject([{ user: null, sessionId: null, address: null }]);
    });

    test('a line is written with its change or not at all, and not where nothing changed', async () => {
      const terminalId = '1' as TerminalId;
      const truck = await env.registry.vehicles.create(vehicleFields('One', { terminalId }));
      const before = await trail();
      await env.registry.vehicles.update(truck.id, null, { name: 'One' });
      await expect(env.registry.vehicles.create(vehicleFields('Two', { terminalId }))).rejects.toBeInstanceOf(
        ConflictError,
      );
      expect(await trail()).toEqual(before);
    });

    test('what a change does elsewhere is in it, as it was before', async () => {
      const dealer = await addDealer('dealer');
      const group = await env.registry.groups.create({ name: 'A', dealerId: dealer.id });
      const truck = await env.registry.vehicles.create(
        vehicleFields('One', { dealerId: dealer.id, groupIds: [group.id] }),
      );
      await env.registry.groups.setVehicle(group.id, truck.id, false);
      await env.registry.groups.setVehicle(group.id, truck.id, true);
      await env.registry.users.delete(dealer.id, null);
      await env.registry.groups.delete(group.id, null);
      expect(await trail({ subjectId: truck.id })).toMatchObject([
        { action: 'changed', before: { groupIds: [group.id] }, after: { groupIds: [] } },
        { action: 'changed', before: { dealerId: dealer.id }, after: { dealerId: null } },
        { action: 'changed', before: { groupIds: [] }, after: { groupIds: [group.id] } },
        { action: 'changed', before: { groupIds: [group.id] }, after: { groupIds: [] } },
        { action: 'created' },
      ]);
      expect(await trail({ subjectId: group.id })).toMatchObject([
        { action: 'deleted' },
        { action: 'changed', before: { dealerId: dealer.id }, after: { dealerId: null } },
        { action: 'created' },
      ]);
    });

    test('logins, logouts, blocks, grants and passwords have names of their own, and no password is in it', async () => {
      const anna = await env.registry.users.create(userFields('anna', { apiAccess: false }), PASSWORD);
      const session = await as(anna).sessions.create(anna.id, 1000, '192.0.2.1', 'a browser');
      const other = await as(anna).sessions.create(anna.id, 1000, '192.0.2.2', '');
      await as(anna, { sessionId: session.id }).sessions.end(session.id);
      await as(boss).sessions.end(other.id);
      for (const patch of [{ apiAccess: true }, { apiAccess: false }, { blocked: true }, { blocked: false }])
        await as(boss).users.update(anna.id, null, patch);
      await as(boss).users.setPassword(anna.id, 'another password', null);
      await env.registry.audit.noteFailedLogin('anna', 'wrong', anna);
      const entries = await trail({ subjectId: anna.id });
      expect(entries.map(({ action }) => action)).toEqual([
        'login-failed',
        'password-changed',
        'unblocked',
        'blocked',
        'api-access-withdrawn',
        'api-access-granted',
        'session-ended',
        'logout',
        'login',
        'login',
        'created',
      ]);
      expect(entries.at(-2)).toMatchObject({
        user: { login: 'anna' },
        sessionId: session.id,
        address: '203.0.113.7',
        after: { sessionId: session.id, userAgent: 'a browser' },
      });
      for (const secret of [PASSWORD, 'another password', 'argon2'])
        expect(JSON.stringify(entries)).not.toContain(secret);
    });

    test('a login as it was tried is cut, and cleared of what can not be kept', async () => {
      expect(await env.registry.users.authenticate('\u0000boss', PASSWORD)).toBeNull();
      await env.registry.audit.noteFailedLogin(`\u0000\ud800${'x'.repeat(1000)}`, 'wrong', null);
      const [entry] = await trail();
      expect(entry?.subject).toEqual({ kind: 'user', id: null, name: `\ufffd\ufffd${'x'.repeat(198)}` });
    });

    test('a dealer’s part is what was done to what is theirs, whoever did it', async () => {
      const a = await addDealer('a');
      const b = await addDealer('b');
      const carl = await env.registry.users.create(userFields('carl', { dealerId: a.id }), PASSWORD);
      const truck = await env.registry.vehicles.create(vehicleFields('Truck', { dealerId: a.id }));
      await env.registry.geofences.create(geofenceFields('Home', carl.id));
      await env.registry.geofences.create(geofenceFields('Head office', boss.id));
      await as(boss).vehicles.update(truck.id, null, { dealerId: b.id, name: 'Moved' });
      await env.registry.vehicles.update(truck.id, null, { name: 'Elsewhere' });
      await env.registry.users.delete(carl.id, null);
      expect(await said({ ofDealer: a.id })).toEqual([
        'deleted carl',
        'deleted Home',
        'changed Moved',
        'created Home',
        'created Truck',
        'created carl',
        // The group that an account comes with.
        'created carl',
        'created a',
      ]);
      expect(await said({ ofDealer: b.id })).toEqual(['changed Elsewhere', 'changed Moved', 'created b']);
      // Whom the dealer may not see is not found by what they did.
      expect(await said({ ofDealer: b.id, userId: boss.id })).toEqual([]);
      expect(await said({ userId: boss.id })).toEqual(['changed Moved']);
      expect(await said({ ofDealer: a.id, userId: a.id })).toEqual([]);
      await as(a).vehicles.create(vehicleFields('By a', { dealerId: a.id }));
      expect(await said({ ofDealer: a.id, userId: a.id })).toEqual(['created By a']);
    });

    test('what a dealer’s change does to what is another’s is the other’s to know', async () => {
      const a = await addDealer('a');
      const b = await addDealer('b');
      const shared = await env.registry.groups.create({ name: 'Shared', dealerId: a.id });
      await env.registry.vehicles.create(vehicleFields('Of b', { dealerId: b.id, groupIds: [shared.id] }));
      await env.registry.vehicles.create(vehicleFields('Of nobody', { groupIds: [shared.id] }));
      await env.registry.users.create(userFields('guest', { dealerId: b.id, groupIds: [shared.id] }), PASSWORD);
      const zone = await env.registry.geofences.create({
        ...geofenceFields('Of boss', boss.id),
        groupIds: [shared.id],
      });
      await as(a).groups.delete(shared.id, null);
      expect((await said({ userId: a.id })).toSorted()).toEqual([
        'changed Of b',
        'changed Of boss',
        'changed Of nobody',
        'changed guest',
        'deleted Shared',
      ]);
      expect(await said({ ofDealer: a.id, userId: a.id })).toEqual(['deleted Shared']);
      expect((await said({ ofDealer: b.id })).slice(0, 2).toSorted()).toEqual(['changed Of b', 'changed guest']);
      expect(await said({ ofDealer: b.id, subjectId: zone.id })).toEqual([]);
    });

    test('what people want to be told of is not their dealer’s to know, whoever changes it', async () => {
      const a = await addDealer('a');
      const carl = await env.registry.users.create(userFields('carl', { dealerId: a.id }), PASSWORD);
      const truck = await env.registry.vehicles.create(vehicleFields('Truck', { dealerId: a.id }));
      const names = { vehicleIds: [truck.id] };
      const own = await env.registry.notificationRules.create({ ...ruleFields('Own', a.id), ...names }, null);
      const his = await as(carl).notificationRules.create({ ...ruleFields('His', carl.id), ...names }, null);
      await as(boss).notificationRules.update(his.id, null, { name: 'His still' });
      await as(boss).notificationRules.update(own.id, null, { name: 'Own still' });
      await as(a).vehicles.delete(truck.id, null);
      await as(a).users.delete(carl.id, null);
      const ofRules = async (filter: AuditFilter) =>
        (await trail(filter))
          .filter(({ subject }) => subject.kind === 'notification-rule')
          .map(({ action, subject }) => `${action} ${subject.name}`);
      expect(await ofRules({ ofDealer: a.id })).toEqual(['changed Own still', 'changed Own still', 'created Own']);
      expect(await ofRules({ ofDealer: a.id, subjectId: his.id })).toEqual([]);
      expect(await ofRules({ subjectId: his.id })).toEqual([
        'deleted His still',
        'changed His still',
        'changed His still',
        'created His',
      ]);
    });

    test('it is asked for by what was done, and by the kind of things', async () => {
      const truck = await as(boss).vehicles.create(vehicleFields('Asked', {}));
      env.nowMs += 1;
      await as(boss).vehicles.update(truck.id, null, { name: 'Asked for' });
      env.nowMs += 1;
      await as(boss).groups.create({ name: 'Asked group', dealerId: null });
      expect(await said({ action: 'changed', subjectId: truck.id })).toEqual(['changed Asked for']);
      expect((await said({ action: 'created', subjectKind: 'group' }))[0]).toBe('created Asked group');
      expect(await said({ action: 'deleted', subjectId: truck.id })).toEqual([]);
    });

    test('it is read page by page, within a stretch of time', async () => {
      const dealer = await addDealer('dealer');
      const startMs = env.nowMs + 1000;
      for (let n = 0; n < 5; n += 1) {
        env.nowMs = startMs + n;
        await env.registry.groups.create({ name: `G${n}`, dealerId: dealer.id });
      }
      const wanted = ['G4', 'G3', 'G2', 'G1', 'G0'];
      for (const filter of [{ fromMs: startMs }, { fromMs: startMs, ofDealer: dealer.id }]) {
        const first = await env.registry.audit.list(filter, { limit: 2, after: null });
        const second = await env.registry.audit.list(filter, { limit: 2, after: first.next });
        const third = await env.registry.audit.list(filter, { limit: 2, after: second.next });
        const pages = [first, second, third];
        expect(pages.flatMap(({ items }) => items.map(({ subject }) => subject.name))).toEqual(wanted);
        expect(third.next).toBeNull();
      }
      expect(await said({ fromMs: startMs + 1, toMs: startMs + 3 })).toEqual(['created G2', 'created G1']);
    });

    test('the oldest are forgotten, no more of them than it is told to', async () => {
      const dealer = await addDealer('dealer');
      await env.registry.audit.clean(env.nowMs + 1, 100);
      const startMs = env.nowMs;
      for (let n = 1; n <= 4; n += 1) {
        env.nowMs = startMs + n;
        await env.registry.groups.create({ name: `G${n}`, dealerId: dealer.id });
      }
      expect(await env.registry.audit.clean(startMs + 3, 1)).toBe(1);
      expect(await env.registry.audit.clean(startMs + 3, 100)).toBe(1);
      expect(await env.registry.audit.clean(startMs + 3, 100)).toBe(0);
      for (const filter of [{}, { ofDealer: dealer.id }])
        expect(await said(filter)).toEqual(['created G4', 'created G3']);
    });

    test('of many sessions, those that are open are told in one question, and those that are over forgotten', async () => {
      const short = await env.registry.sessions.create(boss.id, 1000, '192.0.2.1', '');
      const long = await env.registry.sessions.create(boss.id, 2000, '192.0.2.1', '');
      const ended = await env.registry.sessions.create(boss.id, 2000, '192.0.2.1', '');
      await env.registry.sessions.end(ended.id);
      const all = [short.id, long.id, ended.id, ABSENT as SessionId];
      expect(await env.registry.sessions.liveAmong(all)).toEqual(new Set([short.id, long.id]));
      env.nowMs += 999;
      expect(await env.registry.sessions.clean(10)).toBe(0);
      env.nowMs += 1;
      expect(await env.registry.sessions.liveAmong(all)).toEqual(new Set([long.id]));
      expect(await env.registry.sessions.clean(10)).toBe(1);
      expect(await env.registry.sessions.listOf(boss.id)).toMatchObject([{ id: long.id }]);
    });
  });
}
