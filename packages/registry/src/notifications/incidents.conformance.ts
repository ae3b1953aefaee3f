import type { FleetEvent, IncidentAct, IncidentId, NotificationRule, UserId, VehicleId } from '@outrider/domain';
import { beforeEach, describe, expect, test } from 'vitest';
import { ABSENT, ALL, CAR, PASSWORD, ruleFields, userFields, visit } from '../fleet/fields.fixture.ts';
import {
  IncidentClosedError,
  MAX_INCIDENT_ENTRIES,
  NotFoundError,
  type NotificationRuleFields,
  TooManyError,
} from '../index.ts';
import { type Place, registryPerTest, START_MS } from '../test-registry.fixture.ts';

const MINUTE_MS = 60_000;

/** What every adapter of the registry promises of incidents. */
export function incidentsConformance(name: string, newPlace: () => Promise<Place>): void {
  describe(`incidents on ${name}`, () => {
    const env = registryPerTest(newPlace);
    let anna: UserId;
    let next = 0;

    const newUser = async (login: string, dealerId: UserId | null = null, role: 'user' | 'dealer' = 'user') =>
      (await env.registry.users.create({ ...userFields(login), role, dealerId }, PASSWORD)).id;

    beforeEach(async () => {
      anna = await newUser('anna');
      next = 0;
    });
    const addRule = (more: Partial<NotificationRuleFields> = {}, owner = anna) =>
      env.registry.notificationRules.create(
        ruleFields(more.name ?? 'Rule', owner, { severity: 'warning', ...more }),
        null,
      );
    const happen = async (rule: NotificationRule, ...events: FleetEvent[]) => {
      const drafts = events.map((event, nth) => ({
        offset: next + nth,
        ...{ rule, event, vehicleName: 'Van 7', geofenceName: 'Depot' },
      }));
      next += events.length;
      return env.registry.notifications.record({ consumer: 'test', partition: 0, next, drafts });
    };
    const list = async (filter = {}, userId = anna, organisationId: UserId | null = null) =>
      (await env.registry.incidents.list({ userId, organisationId }, filter, ALL)).items;
    const opened = async (more: Partial<NotificationRuleFields> = {}): Promise<IncidentId> => {
      await happen(await addRule(more), visit(0));
      return (await list())[0]?.id ?? ('' as IncidentId);
    };
    const act = (id: IncidentId, what: IncidentAct, by = anna) => env.registry.incidents.act(id, what, by);
    const history = async (id: IncidentId) => (await env.registry.incidents.entries(id)).map(({ kind }) => kind);

    test('a notification that is more than info opens one, with what it says', async () => {
      const rule = await addRule({ severity: 'critical', shared: true, escalateAfterMinutes: 5 });
      const [notification] = await happen(rule, visit(0));
      expect(notification?.severity).toBe('critical');
      await happen(await addRule({ name: 'Other', severity: 'info' }), visit(1));
      await env.reopen();
      expect(await list()).toEqual([
        {
          id: notification?.id,
          version: 1,
          ownerId: anna,
          shared: true,
          ...{ ruleId: rule.id, ruleName: 'Rule', vehicleName: 'Van 7', geofenceName: 'Depot', driverName: null },
          ...{ severity: 'critical', state: 'open', event: visit(0), assigneeId: null },
          ...{ createdAtMs: START_MS, changedAtMs: START_MS, acknowledgedAtMs: null, closedAtMs: null },
          ...{ endedAtMs: null, escalateAtMs: START_MS + 5 * MINUTE_MS, escalatedAtMs: null },
        },
      ]);
    });

    test('of one event a rule has one; its end is noted, in the same batch or later', async () => {
      const rule = await addRule({ phases: ['begin', 'end'] });
      await happen(rule, visit(0), visit(1), visit(1, 'end'));
      await happen(rule, visit(0, 'end'));
      const all = await list();
      expect(all.map(({ endedAtMs, version }) => [endedAtMs, version])).toEqual([
        [START_MS + MINUTE_MS + 1000, 2],
        [START_MS + 1000, 2],
      ]);
      for (const { id } of all) expect(await history(id)).toEqual(['ended']);
      const made = await env.registry.inboxes.after(anna, 0, 10);
      const [first, second, end, late] = made.map(({ incidentId }) => incidentId);
      expect([end, late]).toEqual([second, first]);
      const known = await env.registry.incidents.byIds(made.flatMap(({ incidentId }) => incidentId ?? []));
      expect(known.map(({ id }) => id).toSorted()).toEqual(all.map(({ id }) => id).toSorted());
    });

    test('a rule of ends opens it when the event is over', async () => {
      await happen(await addRule({ phases: ['end'] }), visit(0, 'end'));
      expect(await list()).toMatchObject([{ state: 'open', endedAtMs: START_MS + 1000 }]);
    });

    test('what is done with it is its history', async () => {
      const ben = await newUser('ben');
      const id = await opened({ escalateAfterMinutes: 5 });
      env.nowMs += 1000;
      expect(await act(id, { kind: 'acknowledged' }, ben)).toMatchObject({
        ...{ state: 'acknowledged', acknowledgedAtMs: START_MS + 1000, escalateAtMs: null, version: 2 },
      });
      expect(await act(id, { kind: 'assigned', assigneeId: ben })).toMatchObject({ assigneeId: ben, version: 3 });
      await act(id, { kind: 'commented', text: 'He calls.' }, ben);
      env.nowMs += 1000;
      expect(await act(id, { kind: 'closed', text: 'A false alarm.' })).toMatchObject({
        ...{ state: 'closed', closedAtMs: START_MS + 2000, acknowledgedAtMs: START_MS + 1000, version: 5 },
        changedAtMs: START_MS + 2000,
      });
      expect(await env.registry.incidents.entries(id)).toMatchObject([
        { kind: 'acknowledged', createdBy: ben, atMs: START_MS + 1000, text: null, assigneeId: null },
        { kind: 'assigned', createdBy: anna, assigneeId: ben },
        { kind: 'commented', createdBy: ben, text: 'He calls.' },
        { kind: 'closed', createdBy: anna, text: 'A false alarm.' },
      ]);
    });

    test('what changes nothing is not noted', async () => {
      const id = await opened();
      await act(id, { kind: 'assigned', assigneeId: null });
      await act(id, { kind: 'closed', text: null });
      for (const kind of ['acknowledged', 'closed'] as const) await act(id, { kind, text: null });
      expect(await env.registry.incidents.get(id)).toMatchObject({ state: 'closed', version: 2 });
      expect(await history(id)).toEqual(['closed']);
    });

    test('a closed one takes comments alone, and no incident takes them without end', async () => {
      const id = await opened();
      await act(id, { kind: 'closed', text: null });
      await expect(act(id, { kind: 'assigned', assigneeId: anna })).rejects.toBeInstanceOf(IncidentClosedError);
      await expect(act(id, { kind: 'escalated' })).rejects.toBeInstanceOf(IncidentClosedError);
      for (let nth = 1; nth < MAX_INCIDENT_ENTRIES; nth++) await act(id, { kind: 'commented', text: 'Once more.' });
      await expect(act(id, { kind: 'commented', text: 'And more.' })).rejects.toBeInstanceOf(TooManyError);
      await expect(act(ABSENT as IncidentId, { kind: 'acknowledged' })).rejects.toBeInstanceOf(NotFoundError);
    });

    test('two that acknowledge it at once are one', async () => {
      const id = await opened();
      const ben = await newUser('ben');
      await Promise.all([act(id, { kind: 'acknowledged' }), act(id, { kind: 'acknowledged' }, ben)]);
      expect(await history(id)).toEqual(['acknowledged']);
    });

    test('an organisation has those that are shared, as it is now', async () => {
      const dealer = await newUser('dealer', null, 'dealer');
      const [ben, cleo] = [await newUser('ben', dealer), await newUser('cleo', dealer)];
      await happen(await addRule({ shared: true }, ben), visit(0));
      await happen(await addRule({ shared: true }, dealer), visit(1));
      await happen(await addRule({ name: 'Own' }, ben), visit(2));
      await happen(await addRule({ shared: true }), visit(3));
      const ofCleo = await list({}, cleo, dealer);
      expect(ofCleo.map(({ ownerId, shared }) => [ownerId, shared])).toEqual([
        [dealer, true],
        [ben, true],
      ]);
      expect(await list({}, dealer, dealer)).toEqual(ofCleo);
      expect(await list({}, ben, dealer)).toHaveLength(3);
      // The accounts that belong to no dealer are one organisation.
      expect((await list({}, await newUser('dora'))).map(({ ownerId }) => ownerId)).toEqual([anna]);
      await env.registry.users.update(ben, null, { dealerId: null });
      expect((await list({}, cleo, dealer)).map(({ ownerId }) => ownerId)).toEqual([dealer]);
    });

    test('filters and pages', async () => {
      const rule = await addRule();
      const other = '0190a000-0000-7000-8000-000000000002' as VehicleId;
      await happen(rule, visit(0), visit(1), visit(2, 'begin', other));
      await happen(await addRule({ name: 'Grave', severity: 'critical' }), visit(3));
      const [grave, ofOther, second] = await list();
      if (!grave || !ofOther || !second) throw new Error('incidents are missing');
      await act(second.id, { kind: 'closed', text: null });
      await act(ofOther.id, { kind: 'assigned', assigneeId: anna });
      const ids = async (filter: object) => (await list(filter)).map(({ id }) => id);
      expect(await ids({ severity: 'critical' })).toEqual([grave.id]);
      expect(await ids({ vehicleId: other })).toEqual([ofOther.id]);
      expect(await ids({ assigneeId: anna })).toEqual([ofOther.id]);
      expect(await ids({ states: ['closed'] })).toEqual([second.id]);
      expect(await ids({ states: ['open', 'acknowledged'] })).toHaveLength(3);
      expect(await ids({ toMs: START_MS })).toEqual([]);
      expect(await ids({ fromMs: START_MS, toMs: START_MS + 1 })).toHaveLength(4);
      const audience = { userId: anna, organisationId: null };
      const first = await env.registry.incidents.list(audience, {}, { limit: 3, after: null });
      const last = await env.registry.incidents.list(audience, {}, { limit: 3, after: first.next });
      expect([...first.items, ...last.items]).toEqual(await list());
      expect(last.next).toBe(null);
      expect((await env.registry.incidents.open(audience)).toSorted((a, b) => a.count - b.count)).toEqual([
        { ownerId: anna, shared: false, vehicleId: other, geofenceId: ABSENT, driverId: null, count: 1 },
        { ownerId: anna, shared: false, vehicleId: CAR, geofenceId: ABSENT, driverId: null, count: 2 },
      ]);
    });

    describe('escalation', () => {
      const deliveries = async () => (await env.registry.deliveries.list(anna, {}, ALL)).items;
      const due = () => env.registry.incidents.escalateDue();

      test('what nobody acknowledges in time is escalated once, whoever looks', async () => {
        const id = await opened({
          ...{ escalateAfterMinutes: 5, emails: ['anna@example.org'], escalateTo: ['boss@example.org'] },
        });
        env.nowMs += 5 * MINUTE_MS - 1;
        expect(await due()).toEqual([]);
        env.nowMs += 1;
        const both = await Promise.all([due(), due()]);
        expect(both.flat()).toMatchObject([{ id, state: 'open', escalateAtMs: null, escalatedAtMs: env.nowMs }]);
        expect(await due()).toEqual([]);
        expect(await env.registry.incidents.entries(id)).toMatchObject([{ kind: 'escalated', createdBy: null }]);
        expect((await deliveries()).map(({ target, isEscalation }) => [target, isEscalation]).toSorted()).toEqual([
          ['anna@example.org', false],
          ['boss@example.org', true],
        ]);
      });

      test('what was acknowledged or closed is not; by hand it is at once', async () => {
        const rule = await addRule({ escalateAfterMinutes: 5, escalateTo: ['boss@example.org'] });
        await happen(rule, visit(0), visit(1), visit(2));
        const [first, second, third] = await list();
        if (!first || !second || !third) throw new Error('incidents are missing');
        await act(first.id, { kind: 'acknowledged' });
        await act(second.id, { kind: 'closed', text: null });
        expect(await act(third.id, { kind: 'escalated' })).toMatchObject({
          escalatedAtMs: START_MS,
          escalateAtMs: null,
        });
        env.nowMs += 10 * MINUTE_MS;
        expect(await due()).toEqual([]);
        expect(await deliveries()).toMatchObject([{ target: 'boss@example.org', notificationId: third.id }]);
      });

      test('of a rule that was deleted nothing is sent, but the incident says so', async () => {
        const rule = await addRule({ escalateAfterMinutes: 1, escalateTo: ['boss@example.org'] });
        await happen(rule, visit(0));
        await env.registry.notificationRules.delete(rule.id, null);
        env.nowMs += MINUTE_MS;
        expect(await due()).toMatchObject([{ escalatedAtMs: env.nowMs }]);
        expect(await deliveries()).toEqual([]);
      });
    });

    test('it is forgotten with its notification, and with its owner', async () => {
      await opened();
      await env.registry.notifications.forget({ beforeMs: Number.MAX_SAFE_INTEGER, maxPerUser: 1, limit: 10 });
      expect(await list()).toEqual([]);
      const ben = await newUser('ben');
      await happen(await addRule({ name: 'Of Ben' }, ben), visit(1));
      const [{ id } = { id: '' as IncidentId }] = await list({}, ben);
      await act(id, { kind: 'commented', text: 'Mine.' }, ben);
      await env.registry.users.delete(ben, null);
      expect(await env.registry.incidents.get(id)).toBe(null);
      expect(await history(id)).toEqual([]);
    });

    test('who is deleted is not named any more', async () => {
      const id = await opened();
      const ben = await newUser('ben');
      await act(id, { kind: 'assigned', assigneeId: ben }, ben);
      await env.registry.users.delete(ben, null);
      expect(await env.registry.incidents.get(id)).toMatchObject({ assigneeId: null });
      expect(await env.registry.incidents.entries(id)).toMatchObject([{ createdBy: null, assigneeId: null }]);
    });
  });
}
