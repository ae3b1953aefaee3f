import type { DefinitionChange, GeofenceId, GroupId, TerminalId, UserId, VehicleId } from '@outrider/domain';
import { describe, expect, test } from 'vitest';
import { BulkError, followRegistry, type VehicleFields } from '../index.ts';
import { MAX_PAGE_BYTES } from '../store/change-pages.ts';
import { type Place, registryPerTest } from '../test-registry.fixture.ts';
import { ABSENT, ALL, geofenceFields, PASSWORD, userFields, vehicleFields } from './fields.fixture.ts';

/** What every adapter of the registry promises of many writes at once. */
export function bulkConformance(name: string, newPlace: () => Promise<Place>): void {
  describe(`many writes on ${name}`, () => {
    const env = registryPerTest(newPlace);
    const terminal = (id: string) => id as TerminalId;
    const added = (label: string, more: Partial<VehicleFields> = {}) => ({
      id: null,
      fields: vehicleFields(label, more),
    });
    const all = async () => (await env.registry.vehicles.list({}, ALL)).items;
    const failuresOf = async (writing: Promise<unknown>) => {
      const error = await writing.then(
        () => null,
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(BulkError);
      return (error as BulkError).failures.map(({ index, error }) => `${index} ${error.name}`);
    };

    test('more of them than a statement takes are made, told to the outbox and to listeners', async () => {
      const { directory } = await followRegistry(env.registry);
      const group = await env.registry.groups.create({ name: 'All', dealerId: null });
      const before = (await env.registry.outbox.pending(5000)).length;
      const writes = Array.from({ length: 1234 }, (_, n) =>
        added(`Van ${n}`, { terminalId: terminal(`t${n}`), groupIds: [group.id] }),
      );
      const outcomes = await env.registry.vehicles.writeAll(writes, false);
      expect(outcomes.map(({ definition }) => definition.name)).toEqual(writes.map(({ fields }) => fields.name));
      expect(new Set(outcomes.map(({ outcome }) => outcome))).toEqual(new Set(['created']));
      expect(await env.registry.groups.vehicleIds(group.id)).toHaveLength(1234);
      expect(await env.registry.outbox.pending(5000)).toHaveLength(before + 1234);
      const last = outcomes.at(-1)?.definition;
      expect(directory.vehicleOfTerminal(terminal('t1233'))).toEqual(last);
      expect(await env.registry.vehicles.get(last?.id as VehicleId)).toEqual(last);
    });

    test('changes of large geofences are held in memory a few at a time, in order and completely', async () => {
      const owner = await env.registry.users.create(userFields('anna'), PASSWORD);
      const path = Array.from({ length: 10_000 }, (_, n): [number, number] => [n / 1000 + 0.123456789, 50.123456789]);
      const { ownerId: _, ...fields } = geofenceFields('', owner.id, { shape: { type: 'line', path, widthM: 20 } });
      const seq = await env.registry.recentChanges.newest();
      const pendingBefore = (await env.registry.outbox.pending(500)).map((each) => each.seq);
      await env.registry.outbox.delivered(pendingBefore);
      const writes = Array.from({ length: 30 }, (_, n) => ({ id: null, fields: { ...fields, name: `Line ${n}` } }));
      await env.registry.geofences.writeAll(owner.id, writes, false);
      const follower = await followRegistry(env.registry);

      const names: string[] = [];
      const nameOf = ({ definition }: DefinitionChange) => (definition?.kind === 'geofence' ? definition.name : '');
      for (let pages = 0; ; pages++) {
        const pending = await env.registry.outbox.pending(500);
        expect(Buffer.byteLength(JSON.stringify(pending))).toBeLessThan(MAX_PAGE_BYTES * 1.2);
        if (pending.length === 0) {
          expect(pages).toBeGreaterThan(1);
          break;
        }
        names.push(...pending.map(({ change }) => nameOf(change)));
        await env.registry.outbox.delivered(pending.map((each) => each.seq));
      }
      expect(names).toEqual(writes.map((write) => write.fields.name));

      const again: string[] = [];
      for (let after = seq; ; ) {
        const news = await env.registry.recentChanges.after(after);
        if (news === 'too-many') throw new Error('all of them are kept');
        expect(Buffer.byteLength(JSON.stringify(news.changes))).toBeLessThan(MAX_PAGE_BYTES * 1.2);
        if (news.changes.length === 0) break;
        again.push(...news.changes.map(nameOf));
        after = news.seq;
      }
      expect(again).toEqual(names);
      expect(follower.directory.geofences.size).toBe(30);
      follower.stop();
    });

    test('terminals change places; what is the same already makes no version', async () => {
      const one = await env.registry.vehicles.create(vehicleFields('One', { terminalId: terminal('1') }));
      const two = await env.registry.vehicles.create(vehicleFields('Two', { terminalId: terminal('2') }));
      const three = await env.registry.vehicles.create(vehicleFields('Three'));
      const outcomes = await env.registry.vehicles.writeAll(
        [
          { id: one.id, expectedVersion: 1, patch: { terminalId: terminal('2') } },
          { id: two.id, expectedVersion: null, patch: { terminalId: terminal('1') } },
          { id: three.id, expectedVersion: 1, patch: { name: 'Three', groupIds: [] } },
          added('Four', { terminalId: terminal('4') }),
        ],
        false,
      );
      expect(outcomes.map(({ outcome }) => outcome)).toEqual(['updated', 'updated', 'unchanged', 'created']);
      expect((await all()).map(({ name, terminalId, version }) => [name, terminalId, version])).toEqual([
        ['One', '2', 2],
        ['Two', '1', 2],
        ['Three', null, 1],
        ['Four', '4', 1],
      ]);
    });

    test('where one of them can’t be made none is, and each that can’t is named', async () => {
      const kept = await env.registry.vehicles.create(vehicleFields('Kept', { terminalId: terminal('kept') }));
      const other = await env.registry.vehicles.create(vehicleFields('Other'));
      const before = await env.registry.outbox.pending(100);
      expect(
        await failuresOf(
          env.registry.vehicles.writeAll(
            [
              added('Good'),
              added('Taken', { terminalId: terminal('kept') }),
              added('First', { terminalId: terminal('new') }),
              added('Twice', { terminalId: terminal('new') }),
              added('No group', { groupIds: [ABSENT as GroupId] }),
              added('No dealer', { dealerId: ABSENT as UserId }),
              { id: ABSENT as VehicleId, expectedVersion: null, patch: {} },
              { id: other.id, expectedVersion: 7, patch: { name: 'Late' } },
            ],
            false,
          ),
        ),
      ).toEqual([
        '1 ConflictError',
        '3 ConflictError',
        '4 UnknownReferenceError',
        '5 UnknownReferenceError',
        '6 NotFoundError',
        '7 StaleError',
      ]);
      expect(await all()).toEqual([kept, other]);
      expect(await env.registry.outbox.pending(100)).toEqual(before);
    });

    test('a dry run returns the outcomes, and changes and publishes nothing', async () => {
      const published: unknown[] = [];
      env.registry.onChange((changes) => published.push(changes));
      const outcomes = await env.registry.vehicles.writeAll([added('One')], true);
      expect(outcomes).toMatchObject([{ outcome: 'created', definition: { name: 'One' } }]);
      expect(await all()).toEqual([]);
      expect(published).toEqual([]);
      expect(await env.registry.outbox.pending(100)).toEqual([]);
      expect(await env.registry.vehicles.writeAll([added('One')], false)).toHaveLength(1);
    });

    test('geofences: names change places, groups are replaced, and another’s are none of theirs', async () => {
      const anna = await env.registry.users.create(userFields('anna'), PASSWORD);
      const boris = await env.registry.users.create(userFields('boris'), PASSWORD);
      const group = await env.registry.groups.create({ name: 'Some', dealerId: null });
      const fieldsOf = (label: string) => {
        const { ownerId: _, ...fields } = geofenceFields(label, anna.id);
        return fields;
      };
      const a = await env.registry.geofences.create({ ...geofenceFields('A', anna.id), groupIds: [group.id] });
      const b = await env.registry.geofences.create(geofenceFields('B', anna.id));
      const his = await env.registry.geofences.create(geofenceFields('A', boris.id));
      const outcomes = await env.registry.geofences.writeAll(
        anna.id,
        [
          { id: a.id, expectedVersion: 1, patch: { name: 'B', groupIds: null } },
          { id: b.id, expectedVersion: 1, patch: { name: 'A', groupIds: [group.id] } },
          { id: null, fields: fieldsOf('C') },
        ],
        false,
      );
      expect(outcomes.map(({ outcome }) => outcome)).toEqual(['updated', 'updated', 'created']);
      for (const { definition } of outcomes)
        expect(await env.registry.geofences.get(definition.id)).toEqual(definition);
      expect((await env.registry.geofences.get(a.id))?.groupIds).toBeNull();
      expect((await env.registry.geofences.get(b.id))?.groupIds).toEqual([group.id]);
      expect(
        await failuresOf(
          env.registry.geofences.writeAll(
            anna.id,
            [
              { id: null, fields: fieldsOf('A') },
              { id: null, fields: fieldsOf('D') },
              { id: null, fields: fieldsOf('D') },
              { id: his.id, expectedVersion: null, patch: { name: 'Mine' } },
              { id: ABSENT as GeofenceId, expectedVersion: null, patch: {} },
            ],
            false,
          ),
        ),
      ).toEqual(['0 ConflictError', '2 ConflictError', '3 NotFoundError', '4 NotFoundError']);
      await expect(env.registry.geofences.writeAll(ABSENT as UserId, [], false)).rejects.toThrow('ownerId');
    });
  });
}
