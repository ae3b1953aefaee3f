import { isSecret, type TerminalId, type User, type Vehicle } from '@outrider/domain';
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
    for (const history of ['apart', 'along'])
      for (const id of [moved.body.id, theirs.id]) {
        const transfer = { ids: [id], dealerId: attacker.user.id, history };
        const refused = await call('POST', '/api/v1/vehicles/move', operator, transfer);
        expect([refused.status, refused.body.errors?.[0]?.pointer]).toEqual([409, '/ids/0']);
      }
  });
});

describe('what a terminal must show', () => {
  const SECRET = 'k3-of-the-terminal';
  const add = (body: object) => call('POST', '/api/v1/vehicles', victim, { name: 'Bound', ...body });

  test('is asked of a new vehicle by default: the protocol of its first packet, from then on', async () => {
    const { body } = await add({ terminalId: '356307042441013' });
    expect(body.terminalAccess).toEqual({ protocol: 'learn', hasSecret: false, certificateSha256: null, networks: [] });
    await world.registry.vehicles.learn([
      { vehicleId: body.id, terminalId: '356307042441013', protocol: 'teltonika', registrationHash: null },
    ]);
    const learnt = (await call('GET', `/api/v1/vehicles/${body.id}`, victim)).body.terminalAccess;
    expect(learnt).toMatchObject({ protocol: 'teltonika' });
    // The first packet counts, and no other terminal's.
    const late = { vehicleId: body.id, protocol: 'osmand', registrationHash: null } as const;
    for (const terminalId of ['356307042441013', '356307042441014'])
      await world.registry.vehicles.learn([{ ...late, terminalId }]);
    expect((await call('GET', `/api/v1/vehicles/${body.id}`, victim)).body.terminalAccess).toEqual(learnt);
    // Another terminal begins anew.
    const moved = await call('PATCH', `/api/v1/vehicles/${body.id}`, victim, { terminalId: '356307042441014' });
    expect(moved.body.terminalAccess).toMatchObject({ protocol: 'learn' });
  });

  test('is set in parts, and a secret is kept as a hash that nobody is shown', async () => {
    const networks = ['203.0.113.0/24', '2001:db8::/32'];
    const added = await add({ terminalId: 'k3', terminalAccess: { protocol: 'wialon-ips', secret: SECRET, networks } });
    const shown = { protocol: 'wialon-ips', hasSecret: true, certificateSha256: null, networks };
    expect(added).toMatchObject({ status: 201, body: { terminalAccess: shown } });
    const path = `/api/v1/vehicles/${added.body.id}`;
    const patched = await call('PATCH', path, victim, { terminalAccess: { networks: [] } });
    expect(patched.body.terminalAccess).toEqual({ ...shown, networks: [] });
    const { secretHash } = (await world.registry.vehicles.get(added.body.id))?.terminalAccess ?? {};
    expect(isSecret(secretHash ?? '', SECRET)).toBe(true);
    const everything = JSON.stringify([
      await world.registry.snapshot(),
      await call('GET', path, victim),
      await call('GET', '/api/v1/audit', victim),
      await call('GET', '/api/v1/vehicles/export', victim),
    ]);
    expect(everything).not.toContain(SECRET);
    const returned = JSON.stringify([(await call('GET', '/api/v1/audit', operator)).body, patched.body]);
    expect(returned).not.toContain(secretHash);
    expect(returned).toContain('"hasSecret":true');
    const without = await call('PATCH', path, victim, { terminalAccess: { secret: null } });
    expect(without.body.terminalAccess).toMatchObject({ hasSecret: false });
  });

  test('is refused where it makes no sense, with what is wrong', async () => {
    for (const [terminalAccess, pointer] of [
      [{ protocol: 'gopher' }, '/terminalAccess/protocol'],
      [{ secret: 'short' }, '/terminalAccess/secret'],
      [{ secret: 'with;semicolon' }, '/terminalAccess/secret'],
      [{ protocol: 'teltonika', secret: SECRET }, '/terminalAccess/secret'],
      [{ certificateSha256: 'AB' }, '/terminalAccess/certificateSha256'],
      [{ networks: ['203.0.113.7'] }, '/terminalAccess/networks/0'],
      [{ networks: ['203.0.113.0/33'] }, '/terminalAccess/networks/0'],
      [{ seen: true }, '/terminalAccess/seen'],
    ] as const) {
      const answer = await add({ terminalAccess });
      expect(answer.status, JSON.stringify(terminalAccess)).toBe(400);
      expect(answer.body.errors[0].pointer, JSON.stringify(answer.body)).toBe(pointer);
    }
  });

  test('a fleet is bound by an import, and empty cells change nothing', async () => {
    const send = (csv: string) =>
      world.call('POST', '/api/v1/vehicles/import', {
        jwt: victim.jwt,
        body: csv,
        headers: { 'content-type': 'text/csv' },
      });
    const rows = `One,a1,wialon-ips,203.0.113.0/24 198.51.100.0/24,${SECRET}\r\nTwo,a2,any,,\r\nThree,a3,,,\r\n`;
    const header = 'name,terminalId,terminalProtocol,terminalNetworks,terminalSecret\r\n';
    expect(await send(`${header}${rows}`)).toMatchObject({ status: 200, body: { created: 3 } });
    expect(await send(`${header}One,a1,,,\r\nTwo,a2,,,\r\n`)).toMatchObject({ body: { unchanged: 2 } });
    const exported = (await world.call('GET', '/api/v1/vehicles/export', { jwt: victim.jwt })).body;
    expect(exported).toContain('wialon-ips,203.0.113.0/24 198.51.100.0/24,\r\n');
    expect(exported).toContain(',any,,\r\n');
    expect(exported).toContain(',learn,,\r\n');
    const wrong = await send(`${header}Four,a4,teltonika,,${SECRET}\r\n`);
    expect(wrong).toMatchObject({ status: 400, body: { errors: [{ row: 2, column: 'terminalSecret' }] } });
  });
});

describe('the id of a terminal that sends data already', () => {
  const move = (who: { jwt: string }, id: string, terminalId: string | null) =>
    call('PATCH', `/api/v1/vehicles/${id}`, who, { terminalId });

  test('of another dealer’s vehicle is not had by waiting until that vehicle gives it up', async () => {
    expect((await move(attacker, own.id, TERMINAL)).status).toBe(409);
    expect((await move(victim, theirs.id, null)).status).toBe(200);
    const refused = await move(attacker, own.id, TERMINAL);
    expect(refused).toMatchObject({ status: 403, body: { errors: [{ pointer: '/terminalId' }] } });
    expect((await call('POST', '/api/v1/vehicles', attacker, { name: 'New', terminalId: TERMINAL })).status).toBe(403);
    const csv = {
      jwt: attacker.jwt,
      body: `name,terminalId\r\nNew,${TERMINAL}\r\n`,
      headers: { 'content-type': 'text/csv' },
    };
    const imported = await world.call('POST', '/api/v1/vehicles/import', csv);
    expect(imported).toMatchObject({ status: 400, body: { errors: [{ row: 2, column: 'terminalId' }] } });
    // The dealer who had it moves it freely, also after the vehicle is gone, and the operator moves it anywhere.
    const again = await call('POST', '/api/v1/vehicles', victim, { name: 'Next', terminalId: TERMINAL });
    expect(again.status).toBe(201);
    expect((await call('DELETE', `/api/v1/vehicles/${again.body.id}`, operator)).status).toBe(204);
    expect((await move(operator, own.id, TERMINAL)).status).toBe(200);
  });

  test('is anybody’s again where it never sent anything, or after 90 days', async () => {
    const unused = await call('POST', '/api/v1/vehicles', attacker, { name: 'Squatter', terminalId: 'unused' });
    await call('DELETE', `/api/v1/vehicles/${unused.body.id}`, attacker);
    expect((await move(victim, theirs.id, 'unused')).status).toBe(200);
    expect((await move(attacker, own.id, TERMINAL)).status).toBe(403);
    expect(await world.registry.vehicles.forgetHolders(world.nowMs + 1, 100)).toBe(1);
    expect((await move(attacker, own.id, TERMINAL)).status).toBe(200);
  });

  test('without a vehicle for more than a day is the operator’s to give', async () => {
    const hourMs = 3_600_000;
    for (const [id, hours] of [
      ['installed', 2],
      ['waiting', 25],
    ] as const) {
      await world.hub.noteUnknownTerminal(id, 'teltonika', '203.0.113.5', world.nowMs - hours * hourMs);
      await world.hub.noteUnknownTerminal(id, 'teltonika', '203.0.113.5', world.nowMs);
    }
    expect((await move(attacker, own.id, 'waiting')).status).toBe(403);
    expect((await move(attacker, own.id, 'installed')).status).toBe(200);
    expect((await move(operator, own.id, 'waiting')).status).toBe(200);
    // What is not changed needs nobody.
    expect((await move(attacker, own.id, 'waiting')).status).toBe(200);
    const csv = {
      jwt: attacker.jwt,
      body: `id,terminalId\r\n${own.id},waiting\r\n`,
      headers: { 'content-type': 'text/csv' },
    };
    expect((await world.call('POST', '/api/v1/vehicles/import', csv)).status).toBe(200);
  });
});
