import type { TerminalId, User, Vehicle } from '@outrider/domain';
import { sampleVehicleFields } from '@outrider/domain/samples';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { World } from './api.fixture.ts';

/** An attacker who is a dealer tries to reach what another dealer's terminals send and record. */

const PROFILES = '/service/ovms/api/profiles';
const TERMINAL = '13800000055' as TerminalId;

let world: World;
let victim: { user: User; jwt: string };
let attacker: { user: User; jwt: string };
let operator: { user: User; jwt: string };
let theirs: Vehicle;
let own: Vehicle;
beforeEach(async () => {
  world = await World.open();
  victim = await world.member('victim', 'dealer');
  attacker = await world.member('attacker', 'dealer');
  operator = await world.member('operator', 'operator');
  theirs = await addVehicle(victim.user, TERMINAL);
  own = await addVehicle(attacker.user, null);
});
afterEach(() => world.close());

function addVehicle({ id }: User, terminalId: TerminalId | null): Promise<Vehicle> {
  return world.registry.vehicles.create(sampleVehicleFields({ name: `Of ${id}`, dealerId: id, terminalId }));
}
const call = (method: string, path: string, { jwt }: { jwt: string }, body?: object) =>
  world.call(method, path, { jwt, ...(body === undefined ? {} : { body }) });
const terminalIdsOfAttacker = async () =>
  (await world.registry.vehicles.list({ dealerId: attacker.user.id }, { limit: 100, after: null })).items.map(
    ({ terminalId }) => terminalId,
  );

describe('the recordings of another dealer’s terminal', () => {
  test('are out of reach of a profile on one’s own vehicle, however the number is written', async () => {
    for (const address of [TERMINAL, `0${TERMINAL}`, TERMINAL.padStart(20, '0')]) {
      const answer = await call('POST', PROFILES, attacker, { vehicleId: own.id, address });
      expect(answer.status, address).toBe(409);
      expect(answer.body.errors, address).toMatchObject([{ pointer: '/address' }]);
    }
    expect((await call('GET', PROFILES, attacker)).body.items).toEqual([]);
    expect((await call('POST', PROFILES, victim, { vehicleId: theirs.id })).status).toBe(201);
  });

  test('are out of reach of a number that nobody has yet, and of one’s own terminal with leading zeros', async () => {
    const unowned = await call('POST', PROFILES, attacker, { vehicleId: own.id, address: '13800000056' });
    expect(unowned).toMatchObject({ status: 403, body: { errors: [{ pointer: '/address' }] } });
    const changed = await call('PATCH', `/api/v1/vehicles/${own.id}`, attacker, { terminalId: `00${TERMINAL}` });
    expect(changed.status).toBe(200);
    expect((await call('POST', PROFILES, attacker, { vehicleId: own.id })).status).toBe(409);
  });

  test('are out of reach of an address that is changed later', async () => {
    await call('PATCH', `/api/v1/vehicles/${own.id}`, attacker, { terminalId: '13800000057' });
    const profile = await call('POST', PROFILES, attacker, { vehicleId: own.id });
    expect(profile).toMatchObject({ status: 201, body: { address: '13800000057', addressRefused: false } });
    const path = `${PROFILES}/${profile.body.id}`;
    expect((await call('PATCH', path, attacker, { address: TERMINAL })).status).toBe(409);
    expect((await call('PATCH', path, attacker, { address: '13800000058' })).status).toBe(403);
    expect((await call('PATCH', path, operator, { address: '13800000058' })).status).toBe(200);
  });

  test('a vehicle that would come to own the address of another dealer’s profile is refused on every way', async () => {
    const profile = await call('POST', PROFILES, operator, { vehicleId: theirs.id, address: TERMINAL });
    const camera = await call('PATCH', `${PROFILES}/${profile.body.id}`, operator, { address: '13800000099' });
    expect(camera.status).toBe(200);
    const terminalId = '13800000099';
    const answers = [
      await call('POST', '/api/v1/vehicles', attacker, { name: 'New', terminalId }),
      await call('PATCH', `/api/v1/vehicles/${own.id}`, attacker, { terminalId }),
    ];
    for (const dryRun of ['', '?dryRun=true'])
      answers.push(
        await world.call('POST', `/api/v1/vehicles/import${dryRun}`, {
          jwt: attacker.jwt,
          body: `name,terminalId\r\nNew,${terminalId}\r\n`,
          headers: { 'content-type': 'text/csv' },
        }),
      );
    for (const { status } of answers) expect(status).toBe(409);
    expect(await terminalIdsOfAttacker()).toEqual([null]);
    // Within the victim's own fleet the terminal may be moved; its new place decides, and the old profile says so.
    const moved = await call('POST', '/api/v1/vehicles', victim, { name: 'Other', terminalId });
    expect(moved.status).toBe(201);
    expect((await call('GET', `${PROFILES}/${profile.body.id}`, victim)).body).toMatchObject({ addressRefused: true });
    const transfer = { dealerId: attacker.user.id };
    expect((await call('PATCH', `/api/v1/vehicles/${moved.body.id}`, operator, transfer)).status).toBe(409);
    expect((await call('PATCH', `/api/v1/vehicles/${theirs.id}`, operator, transfer)).status).toBe(409);
  });
});
