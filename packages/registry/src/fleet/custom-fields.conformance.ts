import type { CustomFields, GroupId, UserId } from '@outrider/domain';
import { describe, expect, test } from 'vitest';
import type { DriverFields, Registry } from '../index.ts';
import { type Place, registryPerTest } from '../test-registry.fixture.ts';
import { ALL, geofenceFields, PASSWORD, userFields, vehicleFields } from './fields.fixture.ts';

const OWN: CustomFields = {
  externalId: 'FLEET-7',
  customAttributes: { costCentre: '4711', axles: 4, leased: true },
};

/** Makes one of each kind, of a dealer or of the operator. */
const MAKERS: Record<
  string,
  (registry: Registry, nth: number, dealerId: UserId | null, own: Partial<CustomFields>) => Promise<Made>
> = {
  user: (registry, nth, dealerId, own) =>
    registry.users.create(userFields(`user${nth}`, { dealerId, ...own }), PASSWORD),
  vehicle: (registry, nth, dealerId, own) =>
    registry.vehicles.create(vehicleFields(`Van ${nth}`, { dealerId, ...own })),
  group: (registry, nth, dealerId, own) => registry.groups.create({ name: `Group ${nth}`, dealerId, ...own }),
  driver: (registry, nth, dealerId, own) => registry.drivers.create(driver(`Driver ${nth}`, dealerId, own)),
};

type Made = CustomFields & { id: string; version: number };

function driver(name: string, dealerId: UserId | null, own: Partial<CustomFields>): DriverFields {
  return {
    ...{ name, dealerId, groupIds: [] as GroupId[], codes: [], phone: null },
    ...{ licenceNumber: null, licenceExpiresOn: null, ...own },
  };
}

/** What every adapter of the registry promises of external ids and custom attributes. */
export function customFieldsConformance(name: string, newPlace: () => Promise<Place>): void {
  describe(`custom fields on ${name}`, () => {
    const env = registryPerTest(newPlace);
    const dealerNamed = (login: string) => env.registry.users.create(userFields(login, { role: 'dealer' }), PASSWORD);
    const listed = async (kind: string): Promise<Made[]> => {
      const { users, vehicles, groups, drivers } = env.registry;
      if (kind === 'user') return (await users.list({}, ALL)).items;
      if (kind === 'vehicle') return (await vehicles.list({}, ALL)).items;
      return kind === 'group' ? (await groups.list({}, ALL)).items : (await drivers.list({}, ALL)).items;
    };

    test.each(Object.keys(MAKERS))(
      'of a %s they are kept, and its external id is unique for its dealer',
      async (kind) => {
        const { registry } = env;
        const make = MAKERS[kind] as (typeof MAKERS)[string];
        const [one, other] = [await dealerNamed('one'), await dealerNamed('other')];
        const made = await make(registry, 1, one.id, OWN);
        expect(made).toMatchObject(OWN);
        expect((await listed(kind)).find(({ id }) => id === made.id)).toEqual(made);
        expect(await make(registry, 2, one.id, {})).toMatchObject({ externalId: null, customAttributes: {} });
        const conflict = { name: 'ConflictError', kind, field: 'externalId' };
        await expect(make(registry, 3, one.id, OWN)).rejects.toMatchObject(conflict);
        const others = await make(registry, 4, other.id, OWN);
        const operators = await make(registry, 5, null, OWN);
        // What a deleted dealer leaves goes to the operator, who has the id already.
        await registry.users.delete(one.id, null);
        const left = new Map((await listed(kind)).map((each) => [each.id, each]));
        expect(left.get(made.id)).toMatchObject({ externalId: null, customAttributes: OWN.customAttributes });
        expect(left.get(others.id)).toMatchObject(OWN);
        expect(left.get(operators.id)).toMatchObject(OWN);
      },
    );

    test('an external id may be given up and taken, one by one and among many', async () => {
      const { vehicles } = env.registry;
      const a = await vehicles.create(vehicleFields('A', { externalId: 'a' }));
      const b = await vehicles.create(vehicleFields('B', { externalId: 'b' }));
      const patch = { externalId: 'a' };
      await expect(vehicles.update(b.id, null, patch)).rejects.toMatchObject({ field: 'externalId' });
      const taken = vehicles.writeAll([{ id: b.id, expectedVersion: null, patch }], false);
      await expect(taken).rejects.toMatchObject({ failures: [{ index: 0, error: { field: 'externalId' } }] });
      await vehicles.writeAll(
        [
          { id: a.id, expectedVersion: null, patch: { externalId: 'b' } },
          { id: b.id, expectedVersion: null, patch },
        ],
        false,
      );
      expect((await vehicles.list({}, ALL)).items.map(({ externalId }) => externalId)).toEqual(['b', 'a']);
      await vehicles.update(b.id, null, { externalId: null, customAttributes: { x: 1 } });
      expect(await vehicles.update(a.id, null, { externalId: 'a' })).toMatchObject({ externalId: 'a' });
      expect(await vehicles.get(b.id)).toMatchObject({ externalId: null, customAttributes: { x: 1 } });
    });

    test('an external id of a geofence is unique among those of its owner’s organisation', async () => {
      const { registry } = env;
      const dealer = await dealerNamed('dealer');
      const anna = await registry.users.create(userFields('anna', { dealerId: dealer.id }), PASSWORD);
      const boss = await registry.users.create(userFields('boss', { role: 'operator' }), PASSWORD);
      const ofAnna = await registry.geofences.create(geofenceFields('Yard', anna.id, OWN));
      expect(await registry.geofences.get(ofAnna.id)).toEqual(ofAnna);
      const again = geofenceFields('Gate', dealer.id, OWN);
      await expect(registry.geofences.create(again)).rejects.toMatchObject({ field: 'externalId' });
      const { ownerId: _, ...fields } = again;
      const many = registry.geofences.writeAll(dealer.id, [{ id: null, fields }], true);
      await expect(many).rejects.toMatchObject({ failures: [{ index: 0, error: { field: 'externalId' } }] });
      await registry.geofences.create(geofenceFields('Yard', boss.id, OWN));
      // With its dealer, an account and its geofences become the operator's.
      await registry.users.delete(dealer.id, null);
      expect(await registry.geofences.get(ofAnna.id)).toMatchObject({ externalId: null, version: 2 });
    });
  });
}
