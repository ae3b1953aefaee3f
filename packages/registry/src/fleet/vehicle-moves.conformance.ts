import type { TerminalId, User, VehicleId } from '@outrider/domain';
import { beforeEach, describe, expect, test } from 'vitest';
import { NotFoundError, QuotaExceededError, UnknownReferenceError } from '../index.ts';
import { type Place, registryPerTest } from '../test-registry.fixture.ts';
import { ALL, PASSWORD, ruleFields, userFields, vehicleFields } from './fields.fixture.ts';

const TERMINAL = '13800000055' as TerminalId;
const ABSENT = '00000000-0000-7000-8000-00000000dead' as VehicleId;

/** What every adapter of the registry promises of vehicles that are moved to another dealer. */
export function vehicleMovesConformance(name: string, newPlace: () => Promise<Place>): void {
  describe(`moved vehicles on ${name}`, () => {
    const env = registryPerTest(newPlace);
    let one: User;
    let other: User;
    beforeEach(async () => {
      one = await env.registry.users.create(userFields('one', { role: 'dealer' }), PASSWORD);
      other = await env.registry.users.create(userFields('other', { role: 'dealer' }), PASSWORD);
    });
    const addVan = async (more: object = {}) => {
      const group = await env.registry.groups.create({ name: `Vans of ${one.id}`, dealerId: one.id });
      return env.registry.vehicles.create(
        vehicleFields('Van', {
          ...{ dealerId: one.id, groupIds: [group.id], terminalId: TERMINAL, speedLimitKmh: 80 },
          ...{ externalId: 'ERP-7', customAttributes: { colour: 'red' }, ...more },
        }),
      );
    };
    const move = async (id: VehicleId, dealerId: User['id'] | null, history: 'apart' | 'along' = 'apart') => {
      const moved = (await env.registry.moveVehicles({ ids: [id], dealerId, history })).get(id);
      if (moved === undefined) throw new Error('nothing is known of it');
      return moved;
    };

    test('without its history a vehicle stays, and another one takes its terminal and its place', async () => {
      const { registry } = env;
      const van = await addVan();
      await registry.vehicles.suspend(van.id, { reason: 'unpaid', by: 'operator' });
      const rule = await registry.notificationRules.create(ruleFields('Rule', one.id, { vehicleIds: [van.id] }), null);
      const profile = await registry.videoProfiles.create({
        ...{ vehicleId: van.id, name: 'Camera', protocol: 'jt1078', address: TERMINAL },
        ...{ channels: [{ number: 1, name: 'Road', direction: 'front' }], quality: 'main', audio: false },
        ...{ maxFragmentSeconds: 60, maxParallelDownloads: 1, timeZone: 'UTC' },
      });
      await registry.counters.correct({
        ...{ vehicleId: van.id, counter: 'odometer', atMs: env.nowMs, value: 5000, note: null, createdBy: one.id },
      });
      const before = (await registry.vehicles.get(van.id)) ?? van;
      env.nowMs += 1000;
      const next = await move(van.id, other.id);

      expect(next).toEqual({
        ...before,
        ...{ id: next.id, version: 1, dealerId: other.id, groupIds: [], suspension: null },
        ...{ externalId: null, customAttributes: {}, predecessor: { id: van.id, untilMs: env.nowMs } },
      });
      expect(await registry.vehicles.get(next.id)).toEqual(next);
      expect(await registry.vehicles.get(van.id)).toMatchObject({
        ...{
          dealerId: one.id,
          groupIds: van.groupIds,
          terminalId: null,
          externalId: 'ERP-7',
          version: before.version + 1,
        },
        ...{ suspension: { reason: 'unpaid' }, customAttributes: { colour: 'red' }, predecessor: null },
      });
      expect((await registry.notificationRules.get(rule.id))?.vehicleIds).toEqual([van.id]);
      expect(await registry.videoProfiles.get(profile.id)).toBeNull();
      const { items } = await registry.videoProfiles.list({ vehicleId: next.id }, ALL);
      expect(items).toMatchObject([{ name: 'Camera', address: TERMINAL, vehicleId: next.id }]);
      expect(await registry.videoProfiles.mayBeFetched(items[0] ?? profile)).toBe(true);

      const noted = async (dealerId: User['id']) =>
        (await registry.audit.list({ ofDealer: dealerId }, ALL)).items.map(({ action, subject }) => [
          action,
          subject.id,
        ]);
      expect(await noted(one.id)).toContainEqual(['moved', van.id]);
      expect(await noted(other.id)).toContainEqual(['moved', van.id]);
      expect(await noted(other.id)).toContainEqual(['created', next.id]);
      const published = (await registry.outbox.pending(100)).map(({ change }) => change);
      expect(published).toContainEqual(expect.objectContaining({ id: next.id, definition: next }));
    });

    test('counters go on where they were', async () => {
      const { registry } = env;
      const van = await addVan();
      const sums = { odometerM: 4000, engineMs: 60_000, custom: {} };
      await registry.counters.save([
        {
          ...{ vehicleId: van.id, revision: 0, contactAtMs: 1, throughMs: env.nowMs, state: '{}', sums },
          ...{ first: { odometerM: 1000, engineMs: 0, custom: {} }, days: [], fromMs: 0, isRecount: false, marks: [] },
        },
      ]);
      const [was] = await registry.counters.of([van.id]);
      const { id } = await move(van.id, other.id);
      expect(
        (await registry.counters.corrections(id)).map(({ counter, value }) => [counter, value]).toSorted(),
      ).toEqual([
        ['engine-hours', was?.engineMs],
        ['odometer', was?.odometerM],
      ]);
      const revision = (await registry.counters.kept([id]))[0]?.revision ?? 0;
      await registry.counters.save([
        {
          ...{ vehicleId: id, revision, contactAtMs: 2, throughMs: env.nowMs + 1, state: '{}' },
          ...{ sums: { odometerM: 10, engineMs: 5, custom: {} }, first: { odometerM: 0, engineMs: 0, custom: {} } },
          ...{ days: [], fromMs: 0, isRecount: false },
          marks: [{ atMs: env.nowMs, sums: { odometerM: 0, engineMs: 0, custom: {} } }],
        },
      ]);
      const [is] = await registry.counters.of([id]);
      expect([is?.odometerM, is?.engineMs]).toEqual([(was?.odometerM ?? 0) + 10, (was?.engineMs ?? 0) + 5]);
    });

    test('with its history it changes hands as it is, and to whom it belongs it is moved by no way', async () => {
      const van = await addVan();
      expect(await move(van.id, one.id)).toEqual(van);
      const along = await move(van.id, other.id, 'along');
      expect(along).toEqual({ ...van, version: 2, dealerId: other.id });
      const back = await move(van.id, null);
      expect(back).toMatchObject({ dealerId: null, predecessor: { id: van.id } });
      // Each knows the one before it.
      expect(await move(back.id, one.id)).toMatchObject({ dealerId: one.id, predecessor: { id: back.id } });
    });

    test('all are moved, or none', async () => {
      const { registry } = env;
      const van = await addVan();
      const before = await registry.vehicles.list({}, ALL);
      for (const history of ['apart', 'along'] as const) {
        await expect(registry.moveVehicles({ ids: [van.id], dealerId: ABSENT as never, history })).rejects.toThrow(
          history === 'apart' ? UnknownReferenceError : Error,
        );
        await expect(registry.moveVehicles({ ids: [van.id, ABSENT], dealerId: other.id, history })).rejects.toThrow();
      }
      await expect(
        registry.moveVehicles({ ids: [van.id, ABSENT], dealerId: other.id, history: 'apart' }),
      ).rejects.toMatchObject({ failures: [{ index: 1, error: expect.any(NotFoundError) }] });
      await registry.quotas.set(other.id, [{ scope: 'dealer', kind: 'vehicles', limit: 0 }], async () => {});
      await expect(move(van.id, other.id)).rejects.toBeInstanceOf(QuotaExceededError);
      expect(await registry.vehicles.list({}, ALL)).toEqual(before);
    });
  });
}
