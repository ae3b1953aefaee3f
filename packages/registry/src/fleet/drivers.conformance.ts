import type { User, VehicleId } from '@outrider/domain';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  ConflictError,
  type DriverFields,
  type DriverWrite,
  NotFoundError,
  OverlappingAssignmentError,
  presentCodes,
  QuotaExceededError,
  UnknownReferenceError,
} from '../index.ts';
import { type Place, registryPerTest } from '../test-registry.fixture.ts';
import { ALL, PASSWORD, userFields, vehicleFields } from './fields.fixture.ts';

const HOUR_MS = 3_600_000;

/** What every adapter of the registry promises of drivers. */
export function driversConformance(name: string, newPlace: () => Promise<Place>): void {
  describe(`drivers on ${name}`, () => {
    const env = registryPerTest(newPlace);
    let dealer: User;
    beforeEach(async () => {
      dealer = await env.registry.users.create(userFields('dealer', { role: 'dealer' }), PASSWORD);
    });
    const fields = (more: Partial<DriverFields> = {}): DriverFields => ({
      name: 'Anna',
      dealerId: null,
      groupIds: [],
      codes: [],
      phone: null,
      licenceNumber: null,
      licenceExpiresOn: null,
      ...more,
    });
    const create = (more?: Partial<DriverFields>) => env.registry.drivers.create(fields(more));

    test('a driver is kept whole, and part of the snapshot', async () => {
      const group = await env.registry.groups.create({ name: 'North', dealerId: null });
      const driver = await create({
        ...{ groupIds: [group.id], codes: ['01:ab', 'b2'], phone: '+1', licenceNumber: 'L1' },
        licenceExpiresOn: '2027-05-31',
      });
      expect(presentCodes(driver)).toEqual(['01AB', 'B2']);
      expect(await env.registry.drivers.get(driver.id)).toEqual(driver);
      expect((await env.registry.snapshot()).at(-1)).toMatchObject({ kind: 'driver', definition: driver });
      expect((await env.registry.drivers.list({ anyOfGroups: [group.id] }, ALL)).items).toEqual([driver]);
      expect((await env.registry.drivers.list({ anyOfGroups: [] }, ALL)).items).toEqual([]);
      expect((await env.registry.drivers.list({ dealerId: dealer.id }, ALL)).items).toEqual([]);
      await env.registry.groups.delete(group.id, null);
      expect(await env.registry.drivers.get(driver.id)).toMatchObject({ groupIds: [], version: 2 });
    });

    test('many are written as one: all of them, or none with what is wrong with each', async () => {
      const { drivers } = env.registry;
      const anna = await create({ codes: ['A1'] });
      const ben = await create({ name: 'Ben', codes: ['B2'] });
      const writes: DriverWrite[] = [
        { id: anna.id, expectedVersion: 1, patch: { codes: ['B2'] } },
        { id: ben.id, expectedVersion: 1, patch: { codes: ['A1'] } },
        { id: null, fields: fields({ name: 'Cid', codes: ['C3'] }) },
      ];
      const tried = await drivers.writeAll(writes, true);
      expect(tried.map(({ outcome }) => outcome)).toEqual(['updated', 'updated', 'created']);
      expect((await drivers.list({}, ALL)).items).toEqual([anna, ben]);
      await drivers.writeAll(writes, false);
      const all = (await drivers.list({}, ALL)).items;
      expect(all.map(presentCodes)).toEqual([['B2'], ['A1'], ['C3']]);
      const more = (...codes: string[]): DriverWrite => ({ id: null, fields: fields({ codes }) });
      const stale: DriverWrite = { id: anna.id, expectedVersion: 1, patch: { name: 'Eve' } };
      const wrong = drivers.writeAll([more('c:3'), more('D4'), more('d-4'), stale], false);
      await expect(wrong).rejects.toMatchObject({ failures: [{ index: 0 }, { index: 2 }, { index: 3 }] });
      expect((await drivers.list({}, ALL)).items).toEqual(all);
    });

    test('a code is one driver’s at a time, of each dealer; what it was stays known', async () => {
      const anna = await create({ codes: ['A1'] });
      await expect(create({ name: 'Ben', codes: ['a-1'] })).rejects.toThrow(ConflictError);
      await create({ name: 'Cid', codes: ['A1'], dealerId: dealer.id });
      env.nowMs += HOUR_MS;
      const without = await env.registry.drivers.update(anna.id, anna.version, { codes: [] });
      expect(without.codes).toEqual([{ code: 'A1', sinceMs: env.nowMs - HOUR_MS, untilMs: env.nowMs }]);
      const ben = await create({ name: 'Ben', codes: ['A1'] });
      await expect(env.registry.drivers.update(anna.id, null, { codes: ['A1'] })).rejects.toThrow(ConflictError);
      expect(ben.codes).toEqual([{ code: 'A1', sinceMs: env.nowMs, untilMs: null }]);
      // Drivers of a dealer that goes are the operator's, without codes that another has.
      await env.registry.users.delete(dealer.id, null);
      const [, , cid] = (await env.registry.drivers.list({}, ALL)).items.toSorted((a, b) => (a.name < b.name ? -1 : 1));
      expect(cid).toMatchObject({ name: 'Cid', dealerId: null, codes: [] });
    });

    test('a deleted driver leaves nothing personal', async () => {
      const van = await env.registry.vehicles.create(vehicleFields('Van'));
      const anna = await create({ codes: ['A1'], phone: '+1 555' });
      await env.registry.driverAssignments.create({ vehicleId: van.id, driverId: anna.id, fromMs: 0, toMs: null });
      await env.registry.drivers.delete(anna.id, anna.version);
      expect(await env.registry.drivers.get(anna.id)).toBeNull();
      await expect(env.registry.drivers.delete(anna.id, null)).rejects.toThrow(NotFoundError);
      expect(await env.registry.driverAssignments.list({ fromMs: 0, toMs: 1e15 })).toEqual([]);
      const trail = JSON.stringify((await env.registry.audit.list({}, ALL)).items);
      for (const word of ['Anna', '+1 555', 'A1']) expect(trail).not.toContain(word);
    });

    test('a vehicle is assigned to one driver at a time, of its dealer', async () => {
      const van = await env.registry.vehicles.create(vehicleFields('Van'));
      const anna = await create();
      const other = await create({ name: 'Cid', dealerId: dealer.id });
      const { driverAssignments } = env.registry;
      const assign = (fromMs: number, toMs: number | null, driverId = anna.id, vehicleId = van.id) =>
        driverAssignments.create({ vehicleId, driverId, fromMs, toMs });
      const first = await assign(1000, 2000);
      const open = await assign(2000, null);
      for (const [from, to] of [
        [0, null],
        [1999, 2000],
        [5000, 6000],
      ] as const)
        await expect(assign(from, to)).rejects.toThrow(OverlappingAssignmentError);
      await expect(assign(0, 500, other.id)).rejects.toThrow(UnknownReferenceError);
      await expect(assign(0, 500, anna.id, 'x' as VehicleId)).rejects.toThrow(UnknownReferenceError);
      expect(await driverAssignments.list({ vehicleIds: [van.id], fromMs: 0, toMs: 1e15 })).toEqual([open, first]);
      expect(await driverAssignments.list({ driverIds: [anna.id], fromMs: 1500, toMs: 1600 })).toEqual([first]);
      await expect(driverAssignments.setEnd(first.id, null)).rejects.toThrow(OverlappingAssignmentError);
      expect(await driverAssignments.setEnd(open.id, 3000)).toEqual({ ...open, toMs: 3000 });
      await driverAssignments.delete(open.id);
      await expect(driverAssignments.delete(open.id)).rejects.toThrow(NotFoundError);
      const trail = (await env.registry.audit.list({}, ALL)).items.map(({ action, subject }) => [subject.kind, action]);
      for (const action of ['created', 'changed', 'deleted'])
        expect(trail).toContainEqual(['driver-assignment', action]);
      await env.registry.vehicles.delete(van.id, null);
      expect(await driverAssignments.get(first.id)).toBeNull();
    });

    test('drivers of a dealer have a quota', async () => {
      await env.registry.quotas.set(dealer.id, [{ scope: 'dealer', kind: 'drivers', limit: 1 }], async () => {});
      await create({ dealerId: dealer.id });
      await expect(create({ name: 'Ben', dealerId: dealer.id })).rejects.toThrow(QuotaExceededError);
    });
  });
}
