import { blankPosition, type TerminalId, type User, VEHICLE_DEFAULTS, type VehicleId } from '@outrider/domain';
import { sampleStatus, sampleVehicleFields } from '@outrider/domain/samples';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ABSENT, type Answer, linesIn, World } from './api.fixture.ts';

let world: World;
let operator: { user: User; jwt: string };
let jwt: string;
beforeEach(async () => {
  world = await World.open();
  operator = await world.member('boss', 'operator');
  jwt = operator.jwt;
});
afterEach(() => world.close());

const addVehicle = async (body: Record<string, unknown>, as = jwt) =>
  world.call('POST', '/api/v1/vehicles', { jwt: as, body });

describe('vehicles', () => {
  test('a new one gets an id and the defaults, and is found by id and by terminal', async () => {
    const { status, body, headers } = await addVehicle({ name: 'Van 12', terminalId: '356307042441013' });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: body.id,
      ...VEHICLE_DEFAULTS,
      suspension: null,
      historyFrom: null,
      name: 'Van 12',
      terminalId: '356307042441013',
      terminalAccess: { protocol: 'learn', hasSecret: false, certificateSha256: null, networks: [] },
      dealerId: null,
      groupIds: [],
      sensors: [],
      customAttributes: {},
    });
    expect(headers.get('location')).toBe(`/api/v1/vehicles/${body.id}`);
    expect(headers.get('etag')).toBe('"1"');
    for (const key of [body.id, 'terminal:356307042441013'])
      expect((await world.call('GET', `/api/v1/vehicles/${key}`, { jwt })).body).toEqual(body);
    const found = await world.call('GET', '/api/v1/vehicles?terminalId=356307042441013', { jwt });
    expect(found.body).toEqual({ items: [body], nextCursor: null });
    expect((await world.call('GET', '/api/v1/vehicles?terminalId=1', { jwt })).body.items).toEqual([]);
    expect((await world.call('GET', '/api/v1/vehicles/terminal:1', { jwt })).status).toBe(404);
  });

  test('a VIN is optional, and 17 characters without I, O and Q', async () => {
    const vin = 'WDB9066331S123456';
    const { body } = await addVehicle({ name: 'Van 12', vin });
    expect(body).toMatchObject({ vin });
    const patch = (to: string | null) => world.call('PATCH', `/api/v1/vehicles/${body.id}`, { jwt, body: { vin: to } });
    for (const wrong of [
      '',
      vin.slice(1),
      `${vin}7`,
      vin.toLowerCase(),
      'WDB90663I1S123456',
      'WDB90663O1S12345Q',
      7 as never,
    ])
      expect((await patch(wrong)).body.errors).toMatchObject([{ pointer: '/vin' }]);
    expect((await patch('WDB90663I1S123456')).body.errors[0].detail).toContain('ISO 3779');
    const csv = await world.call('GET', '/api/v1/vehicles/export', { jwt });
    expect(csv.body).toContain(`,${vin},`);
    const imported = (cell: string) =>
      world.call('POST', '/api/v1/vehicles/import', {
        jwt,
        body: `id,vin\n${body.id},${cell}\n`,
        headers: { 'content-type': 'text/csv' },
      });
    expect((await imported('O')).body.errors).toMatchObject([{ row: 2, column: 'vin' }]);
    expect((await imported('')).body).toMatchObject({ updated: 1 });
    expect((await world.call('GET', `/api/v1/vehicles/${body.id}`, { jwt })).body).toEqual({ ...body, vin: null });
    expect((await patch('1FTFW1ET5DFC10312')).body).toMatchObject({ vin: '1FTFW1ET5DFC10312' });
  });

  test('a vehicle has a colour and an icon of its own, or none', async () => {
    const { body } = await addVehicle({ name: 'Van 12', color: '#1f5fc4', icon: 'van' });
    expect(body).toMatchObject({ color: '#1f5fc4', icon: 'van' });
    const patch = (to: object) => world.call('PATCH', `/api/v1/vehicles/${body.id}`, { jwt, body: to });
    for (const color of ['red', '#1F5FC4', '#1f5', '#1f5fc4ff'])
      expect((await patch({ color })).body.errors).toMatchObject([{ pointer: '/color' }]);
    expect((await patch({ icon: 'rocket' })).body.errors).toMatchObject([{ pointer: '/icon' }]);
    expect((await patch({ color: null, icon: null })).body).toMatchObject({ color: null, icon: null });
    const imported = await world.call('POST', '/api/v1/vehicles/import', {
      jwt,
      body: `id,color,icon\n${body.id},#00ff00,rocket\n`,
      headers: { 'content-type': 'text/csv' },
    });
    expect(imported.body.errors).toMatchObject([{ row: 2, column: 'icon' }]);
  });

  test('a vehicle has the model of its terminal, or none', async () => {
    const { body } = await addVehicle({ name: 'Van 12', deviceModel: 'FMB920' });
    expect(body).toMatchObject({ deviceModel: 'FMB920' });
    const patch = (to: object) => world.call('PATCH', `/api/v1/vehicles/${body.id}`, { jwt, body: to });
    for (const deviceModel of ['fmb920', 'FMB', '', 920])
      expect((await patch({ deviceModel })).body.errors).toMatchObject([{ pointer: '/deviceModel' }]);
    const imported = (cell: string) =>
      world.call('POST', '/api/v1/vehicles/import', {
        jwt,
        body: `id,deviceModel\n${body.id},${cell}\n`,
        headers: { 'content-type': 'text/csv' },
      });
    expect((await imported('FMB9')).body.errors).toMatchObject([
      { row: 2, column: 'deviceModel', detail: expect.stringContaining('/api/v1/terminal-protocols') },
    ]);
    expect((await imported('FMB640')).body).toMatchObject({ updated: 1 });
    expect((await patch({ name: 'Van 13' })).body).toMatchObject({ deviceModel: 'FMB640' });
    expect((await patch({ deviceModel: null })).body).toMatchObject({ deviceModel: null });
  });

  test('a patch changes what it names; null takes away what may be absent', async () => {
    const { body } = await addVehicle({ name: 'Van 12', plate: 'A 1', speedLimitKmh: 90 });
    const patched = await world.call('PATCH', `/api/v1/vehicles/${body.id}`, {
      jwt,
      body: { plate: null, speedLimitKmh: 60.5 },
      headers: { 'content-type': 'application/merge-patch+json' },
    });
    expect(patched.body).toEqual({ ...body, plate: null, speedLimitKmh: 60.5 });
    expect(patched.headers.get('etag')).toBe('"2"');
    const refused = await world.call('PATCH', `/api/v1/vehicles/${body.id}`, { jwt, body: { name: null } });
    expect(refused.body.errors).toMatchObject([{ pointer: '/name' }]);
  });

  test('If-Match lets only those change and delete who saw the newest', async () => {
    const { body } = await addVehicle({ name: 'Van 12' });
    const path = `/api/v1/vehicles/${body.id}`;
    const patch = (name: string, ifMatch: string) =>
      world.call('PATCH', path, { jwt, body: { name }, headers: { 'if-match': ifMatch } });
    expect((await patch('Van 13', '"1"')).status).toBe(200);
    const stale = await patch('Van 14', '"1"');
    expect(stale.status).toBe(412);
    expect(stale.headers.get('etag')).toBe('"2"');
    expect((await patch('Van 14', 'W/"2"')).status).toBe(412);
    expect((await patch('Van 14', '2')).body.errors).toMatchObject([{ parameter: 'If-Match' }]);
    expect((await patch('Van 15', '"1", "2"')).status).toBe(200);
    expect((await patch('Van 16', '*')).status).toBe(200);
    expect((await world.call('DELETE', path, { jwt, headers: { 'if-match': '"3"' } })).status).toBe(412);
    expect((await world.call('DELETE', path, { jwt, headers: { 'if-match': '"4"' } })).status).toBe(204);
    expect((await world.call('GET', path, { jwt })).status).toBe(404);
  });

  test('a terminal that is taken is a conflict that says which field', async () => {
    await addVehicle({ name: 'Van 12', terminalId: '1' });
    const { status, body } = await addVehicle({ name: 'Van 13', terminalId: '1' });
    expect(status).toBe(409);
    expect(body.errors).toMatchObject([{ pointer: '/terminalId' }]);
  });

  test('every wrong field is named by a pointer', async () => {
    const { status, body } = await addVehicle({
      name: '',
      plate: 7,
      terminalId: 'two words',
      groupIds: [ABSENT, 'x'],
      speedLimitKmh: -1,
      speedToleranceKmh: '5',
      colour: 'red',
      'a/b~c': 1,
    });
    expect(status).toBe(400);
    expect(body.errors.map((error: { pointer: string }) => error.pointer).toSorted()).toEqual([
      '/a~1b~0c',
      '/colour',
      '/groupIds/1',
      '/name',
      '/plate',
      '/speedLimitKmh',
      '/speedToleranceKmh',
      '/terminalId',
    ]);
    expect((await addVehicle({ name: 'nul\u0000' })).body.errors).toMatchObject([{ pointer: '/name' }]);
    expect((await addVehicle({ name: 'x', groupIds: [ABSENT] })).body.errors).toMatchObject([
      { pointer: '/groupIds/0' },
    ]);
    expect((await addVehicle({ name: 'x', dealerId: ABSENT })).body.errors).toMatchObject([{ pointer: '/dealerId' }]);
  });

  test('what is not JSON, not said to be JSON, or too large is refused as that', async () => {
    const post = (body: string, headers: Record<string, string> = {}) =>
      world.call('POST', '/api/v1/vehicles', { jwt, body, headers });
    expect((await post('{"name":')).body.errors).toMatchObject([{ pointer: '' }]);
    expect((await post('{"name":"x"}', { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await post(`{"name":"${'x'.repeat(1024 * 1024)}"}`)).status).toBe(413);
    expect((await post('{"__proto__":{"name":"x"},"name":"y"}')).status).toBe(400);
  });

  test('a list comes in pages, each vehicle once, and refuses what is no cursor or limit', async () => {
    for (let n = 0; n < 5; n += 1) await addVehicle({ name: `Van ${n}` });
    const seen: string[] = [];
    let query = 'limit=2';
    for (;;) {
      const { body } = await world.call('GET', `/api/v1/vehicles?${query}`, { jwt });
      seen.push(...body.items.map((item: { id: string }) => item.id));
      if (body.nextCursor === null) break;
      query = `limit=2&cursor=${body.nextCursor}`;
    }
    expect(seen).toHaveLength(5);
    expect(new Set(seen).size).toBe(5);
    for (const wrong of ['limit=0', 'limit=1001', 'limit=x', 'limit=1.5'])
      expect((await world.call('GET', `/api/v1/vehicles?${wrong}`, { jwt })).body.errors).toMatchObject([
        { parameter: 'limit' },
      ]);
    for (const wrong of ['x', 'bnVsbA', 'IiI', '%ff'])
      expect((await world.call('GET', `/api/v1/vehicles?cursor=${wrong}`, { jwt })).body.errors).toMatchObject([
        { parameter: 'cursor' },
      ]);
  });

  test('a list comes whole, in lines, of what the caller sees and asks for', async () => {
    const anna = await world.member('anna');
    const group = (await world.call('POST', '/api/v1/vehicle-groups', { jwt, body: { name: 'Vans' } })).body;
    await world.call('PUT', `/api/v1/vehicle-groups/${group.id}/users/${anna.user.id}`, { jwt });
    const fields = Array.from({ length: 600 }, (_, nth) =>
      sampleVehicleFields({ name: `Van ${nth}`, groupIds: nth % 2 === 0 ? [group.id] : [] }),
    );
    await world.registry.vehicles.writeAll(
      fields.map((each) => ({ id: null, fields: each })),
      false,
    );
    const whole = (query = '', as = jwt) =>
      world.call('GET', `/api/v1/vehicles${query}`, { jwt: as, headers: { accept: 'application/x-ndjson' } });
    const page = await world.call('GET', '/api/v1/vehicles?limit=1000', { jwt });
    const all = await whole();
    expect(all.headers.get('content-type')).toBe('application/x-ndjson');
    expect(linesIn(all)).toEqual(page.body.items);
    expect(page.body.items).toHaveLength(600);
    const hers = linesIn(await whole('', anna.jwt)) as { name: string }[];
    expect(hers.map(({ name }) => name)).toEqual(Array.from({ length: 300 }, (_, nth) => `Van ${2 * nth}`));
    const { nextCursor } = (await world.call('GET', '/api/v1/vehicles?limit=10', { jwt })).body;
    expect(linesIn(await whole(`?cursor=${nextCursor}`))).toEqual(page.body.items.slice(10));
    expect(linesIn(await whole('?q=Van+59&sort=-name'))).toHaveLength(11);
    expect(linesIn(await whole('?q=Lorry'))).toEqual([]);
    expect((await whole('?cursor=x')).body.errors).toMatchObject([{ parameter: 'cursor' }]);
    const either = 'application/json, application/x-ndjson';
    const asPage = await world.call('GET', '/api/v1/vehicles', { jwt, headers: { accept: either } });
    expect(asPage.body.items).toHaveLength(100);
  });

  test('ids that are none are bad, ids of nothing are not found', async () => {
    for (const wrong of ['1', 'terminal:', ABSENT.slice(1)])
      expect((await world.call('GET', `/api/v1/vehicles/${wrong}`, { jwt })).body.errors).toMatchObject([
        { parameter: 'id' },
      ]);
    expect((await world.call('GET', `/api/v1/vehicles/${ABSENT}`, { jwt })).status).toBe(404);
  });
});

describe('rejected positions', () => {
  test('say why a vehicle does not move: by reason, the last one first, jumps included', async () => {
    const { body } = await addVehicle({ name: 'Van 12', terminalId: '1' });
    const at = (secondsAgo: number) => world.nowMs - secondsAgo * 1000;
    const fix = (secondsAgo: number, latitude: number) => ({
      ...blankPosition(at(secondsAgo), latitude, 30.31),
      receivedAtMs: at(secondsAgo) + 500,
    });
    world.rejections = [
      {
        reason: 'time-in-future',
        count: 42,
        lastFixTimeMs: at(-1200),
        lastReceivedAtMs: at(10),
        latitude: 59.9,
        longitude: 30.3,
      },
    ];
    // Out to sea and back: two jumps between three good fixes.
    world.trackAnswer = {
      positions: [fix(50, 59.9), fix(40, 10), fix(30, 59.9), fix(5, 20), fix(4, 59.9)],
      next: null,
    };
    const path = '/api/v1/vehicles/terminal:1/rejected-positions';
    expect((await world.call('GET', path, { jwt })).body).toEqual({
      vehicleId: body.id,
      from: '2026-01-14T12:00:00.000Z',
      to: '2026-01-15T12:00:00.000Z',
      complete: true,
      rejections: [
        {
          reason: 'jump',
          count: 2,
          lastFixTime: '2026-01-15T11:59:55.000Z',
          lastReceivedAt: '2026-01-15T11:59:55.500Z',
          latitude: 20,
          longitude: 30.31,
        },
        {
          reason: 'time-in-future',
          count: 42,
          lastFixTime: '2026-01-15T12:20:00.000Z',
          lastReceivedAt: '2026-01-15T11:59:50.000Z',
          latitude: 59.9,
          longitude: 30.3,
        },
      ],
    });
    world.trackAnswer = { positions: [], next: null };
    world.rejections = [];
    expect((await world.call('GET', path, { jwt })).body.rejections).toEqual([]);
  });
});

describe('state', () => {
  test('says what was refused last with the id of the terminal, and operators see it among the refused', async () => {
    const { body } = await addVehicle({ name: 'Van 12', terminalId: '1' });
    const path = `/api/v1/vehicles/${body.id}/state`;
    const contact = {
      transport: 'http',
      detail: 'the vehicle is bound to gt06',
      receivedBytes: 0,
      firstBytes: '',
    } as const;
    const atMs = Date.UTC(2026, 0, 15, 12);
    await world.hub.noteUnknownTerminal('1', 'osmand', '192.0.2.7', atMs, { ...contact, reason: 'unknown-terminal' });
    expect((await world.call('GET', path, { jwt })).body.lastRefusal).toBeNull();
    await world.hub.noteUnknownTerminal('1', 'osmand', '192.0.2.7', atMs, { ...contact, reason: 'wrong-protocol' });
    expect((await world.call('GET', path, { jwt })).body.lastRefusal).toEqual({
      at: '2026-01-15T12:00:00.000Z',
      protocol: 'osmand',
      address: '192.0.2.7',
      reason: 'wrong-protocol',
      detail: 'the vehicle is bound to gt06',
    });
    expect((await world.call('GET', '/api/v1/unknown-terminals', { jwt })).body.items).toMatchObject([
      { terminalId: '1', protocol: 'osmand', reason: 'wrong-protocol', firstBytes: null },
    ]);
  });

  test('is the newest position that the hub holds, as the live API shows it', async () => {
    const { body } = await addVehicle({ name: 'Van 12', terminalId: '1' });
    const path = `/api/v1/vehicles/${body.id}/state`;
    expect((await world.call('GET', path, { jwt })).body).toEqual({
      vehicleId: body.id,
      state: 'unknown',
      stateSince: null,
      online: null,
      lastContactAt: null,
      protocol: null,
      connected: false,
      connectedSince: null,
      remoteAddress: null,
      lastRefusal: null,
      recordTime: null,
      clockAheadSeconds: null,
      ignition: null,
      supplyV: null,
      sensors: [],
      tank: null,
      fuelL: null,
      alarms: [],
      driver: null,
      driverCode: null,
      counters: null,
      attributes: null,
      position: null,
      receivedAt: null,
      surplus: [],
    });
    const position = {
      ...blankPosition(world.nowMs - 5000, 59.93, 30.31),
      speedKmh: 42.5,
      alarms: ['sos'] as const,
      attributes: { io1: 7 },
    };
    // In a garage, two seconds ago: without a fix, with its ignition off.
    const record = { ...blankPosition(world.nowMs - 2000, 0, 0), valid: false, supplyV: 12.4, attributes: { io21: 2 } };
    await world.hub.updateLatest([
      sampleStatus(body.id, position, world.nowMs - 4000, {
        asOfMs: world.nowMs,
        record,
        lastContactAtMs: world.nowMs,
        protocol: 'teltonika',
        activity: {
          state: 'parking',
          sinceMs: world.nowMs - 5000,
          ignition: false,
          alarms: ['sos'],
          geofenceIds: [],
          speeding: [],
        },
      }),
    ]);
    const connection = { protocol: 'teltonika', address: '203.0.113.5', sinceMs: world.nowMs - 60_000 };
    await world.hub.noteConnections('gateway', [{ terminalId: '1' as TerminalId, connection }]);
    expect((await world.call('GET', '/api/v1/vehicles/terminal:1/state', { jwt })).body).toEqual({
      vehicleId: body.id,
      state: 'parking',
      stateSince: '2026-01-15T11:59:55.000Z',
      online: true,
      lastContactAt: '2026-01-15T12:00:00.000Z',
      protocol: 'teltonika',
      connected: true,
      connectedSince: '2026-01-15T11:59:00.000Z',
      remoteAddress: '203.0.113.5',
      lastRefusal: null,
      recordTime: '2026-01-15T11:59:58.000Z',
      clockAheadSeconds: null,
      ignition: false,
      supplyV: 12.4,
      sensors: [],
      fuelL: null,
      tank: null,
      alarms: ['sos'],
      driver: null,
      driverCode: null,
      counters: null,
      attributes: { io21: 2 },
      position: {
        vehicleId: body.id,
        fixTime: '2026-01-15T11:59:55.000Z',
        latitude: 59.93,
        longitude: 30.31,
        valid: true,
        speedKmh: 42.5,
        alarms: ['sos'],
        attributes: { io1: 7 },
      },
      receivedAt: '2026-01-15T11:59:56.000Z',
      surplus: [],
    });
  });
});

describe('unknown terminals', () => {
  test('are listed to the operator, the most recently seen first, until they have a profile', async () => {
    for (const [nth, terminalId] of ['a', 'b', 'c'].entries())
      await world.hub.noteUnknownTerminal(terminalId, 'teltonika', '203.0.113.5', world.nowMs + nth);
    const ids = async (query = '') =>
      (await world.call('GET', `/api/v1/unknown-terminals${query}`, { jwt })).body.items.map(
        (item: { terminalId: string }) => item.terminalId,
      );
    expect(await ids()).toEqual(['c', 'b', 'a']);
    const { body } = await world.call('GET', '/api/v1/unknown-terminals?limit=2', { jwt });
    expect(body.items[0]).toEqual({
      terminalId: 'c',
      protocol: 'teltonika',
      transport: null,
      address: '203.0.113.5',
      reason: null,
      detail: null,
      receivedBytes: null,
      firstBytes: null,
      guesses: [],
      firstSeen: '2026-01-15T12:00:00.002Z',
      lastSeen: '2026-01-15T12:00:00.002Z',
      attempts: 1,
    });
    expect(await ids(`?limit=2&cursor=${body.nextCursor}`)).toEqual(['a']);
    await addVehicle({ name: 'Van', terminalId: 'b' });
    expect(await ids()).toEqual(['c', 'a']);
  });

  test('devices that did not say who they are stand among them, with their bytes and what they fit', async () => {
    const contact = {
      transport: 'udp',
      reason: 'bad-frame',
      detail: 'a line begins with 0x78',
      receivedBytes: 900,
      firstBytes: '78780d01',
    } as const;
    const guesses = [{ protocol: 'gt06', terminalId: '356307042441013' }];
    const device = { protocol: 'h02', contact, guesses };
    for (const [nth, address] of ['203.0.113.5', '203.0.113.6', '203.0.113.7'].entries()) {
      await world.hub.noteUnknownDevice({ ...device, address }, world.nowMs + nth);
      await world.hub.noteUnknownTerminal(`t${nth}`, 'h02', address, world.nowMs + nth, contact);
    }
    const first = (await world.call('GET', '/api/v1/unknown-terminals?limit=3', { jwt })).body;
    expect(first.items[0]).toEqual({
      terminalId: null,
      protocol: 'h02',
      address: '203.0.113.7',
      ...contact,
      guesses: [{ protocol: 'gt06', title: 'GT06, Concox', port: null, terminalId: '356307042441013' }],
      firstSeen: '2026-01-15T12:00:00.002Z',
      lastSeen: '2026-01-15T12:00:00.002Z',
      attempts: 1,
    });
    const { body } = await world.call('GET', `/api/v1/unknown-terminals?limit=9&cursor=${first.nextCursor}`, { jwt });
    const seen = [...first.items, ...body.items].map(({ terminalId, address }) => `${terminalId} ${address}`);
    expect(seen).toEqual([
      'null 203.0.113.7',
      't2 203.0.113.7',
      'null 203.0.113.6',
      't1 203.0.113.6',
      'null 203.0.113.5',
      't0 203.0.113.5',
    ]);
  });

  test('are nobody else’s', async () => {
    const dealer = await world.member('dealer', 'dealer');
    expect((await world.call('GET', '/api/v1/unknown-terminals', { jwt: dealer.jwt })).status).toBe(403);
  });
});

describe('groups', () => {
  test('are added, renamed, found and deleted', async () => {
    const add = await world.call('POST', '/api/v1/vehicle-groups', { jwt, body: { name: 'Tankers' } });
    expect(add.status).toBe(201);
    const path = `/api/v1/vehicle-groups/${add.body.id}`;
    expect((await world.call('GET', path, { jwt })).body).toEqual({
      ...{ id: add.body.id, name: 'Tankers', dealerId: null },
      ...{ externalId: null, customAttributes: {}, retentionDays: null },
    });
    expect((await world.call('PATCH', path, { jwt, body: { name: 'Vans' } })).body.name).toBe('Vans');
    expect((await world.call('GET', '/api/v1/vehicle-groups', { jwt })).body.items).toMatchObject([{ name: 'Vans' }]);
    const clash = await world.call('POST', '/api/v1/vehicle-groups', { jwt, body: { name: 'Vans' } });
    expect([clash.status, clash.body.errors[0].pointer]).toEqual([409, '/name']);
    expect((await world.call('DELETE', path, { jwt })).status).toBe(204);
    expect((await world.call('GET', path, { jwt })).status).toBe(404);
  });

  test('a user sees a vehicle as long as both are in one group', async () => {
    const van = (await addVehicle({ name: 'Van' })).body;
    const anna = await world.member('anna');
    const group = (await world.call('POST', '/api/v1/vehicle-groups', { jwt, body: { name: 'Vans' } })).body;
    const seen = async () => (await world.call('GET', `/api/v1/vehicles/${van.id}`, { jwt: anna.jwt })).status;
    expect(await seen()).toBe(404);
    for (const member of [`vehicles/${van.id}`, `users/${anna.user.id}`])
      expect((await world.call('PUT', `/api/v1/vehicle-groups/${group.id}/${member}`, { jwt })).status).toBe(204);
    expect(await seen()).toBe(200);
    const list = (path: string) => world.call('GET', `/api/v1/vehicle-groups/${group.id}/${path}`, { jwt });
    expect((await list('vehicles')).body.items).toMatchObject([{ id: van.id }]);
    expect((await list('users')).body.items).toMatchObject([{ id: anna.user.id }]);
    expect((await world.call('GET', '/api/v1/vehicles', { jwt: anna.jwt })).body.items).toMatchObject([{ id: van.id }]);
    await world.call('DELETE', `/api/v1/vehicle-groups/${group.id}/users/${anna.user.id}`, { jwt });
    expect(await seen()).toBe(404);
    expect((await list('users')).body.items).toEqual([]);
  });
});

describe('track', () => {
  const asked = (vehicleId: string, more = '') =>
    `/api/v1/reports/track?vehicleId=${vehicleId}&from=2026-01-15T10:00:00Z&to=2026-01-15T14:00:00.500%2B02:00${more}`;

  test('asks the archive for a time range, and for the rest by the cursor', async () => {
    const van = (await addVehicle({ name: 'Van', terminalId: '1' })).body;
    const cursor = { fixTimeMs: Date.UTC(2026, 0, 15, 11), rejection: null };
    const archived = {
      ...blankPosition(cursor.fixTimeMs, 59.93, 30.31),
      receivedAtMs: 1,
      terminalId: '1' as TerminalId,
      rejection: null,
    };
    world.trackAnswer = { positions: [archived], next: cursor };
    const first = await world.call('GET', asked(van.id, '&limit=1'), { jwt });
    expect(first.body.items).toEqual([
      { vehicleId: van.id, fixTime: '2026-01-15T11:00:00.000Z', latitude: 59.93, longitude: 30.31, valid: true },
    ]);
    world.trackAnswer = { positions: [], next: null };
    const second = await world.call('GET', asked('terminal:1', `&cursor=${first.body.nextCursor}`), { jwt });
    expect(second.body).toEqual({ items: [], nextCursor: null });
    const question = {
      vehicleId: van.id as VehicleId,
      fromMs: Date.UTC(2026, 0, 15, 10),
      toMs: Date.UTC(2026, 0, 15, 12, 0, 0, 500),
    };
    expect(world.tracksAsked).toEqual([
      { ...question, limit: 1, after: null },
      { ...question, limit: 100, after: cursor },
    ]);
  });

  test('marks which positions are jumps, over pages, by the fixes before them', async () => {
    const van = (await addVehicle({ name: 'Van' })).body;
    const atMs = (second: number) => Date.UTC(2026, 0, 15, 11) + second * 1000;
    const archived = (second: number, latitude: number) => blankPosition(atMs(second), latitude, 30.31);
    const unsaid = { speedKmh: null, courseDeg: null, ignition: null };
    world.fixesBefore = [{ vehicleId: van.id, fixTimeMs: atMs(-10), latitude: 59.93, longitude: 30.31, ...unsaid }];
    world.trackAnswer = {
      positions: [archived(0, 10), archived(10, 59.93), archived(20, 10)],
      next: { fixTimeMs: atMs(20), rejection: null },
    };
    const rejections = ({ body }: Answer) =>
      body.items.map((item: { rejection?: string }) => item.rejection ?? null) as unknown;
    const first = await world.call('GET', asked(van.id), { jwt });
    expect(rejections(first)).toEqual(['jump', null, 'jump']);
    world.trackAnswer = { positions: [archived(30, 59.93), archived(40, 10)], next: null };
    const second = await world.call('GET', asked(van.id, `&cursor=${first.body.nextCursor}`), { jwt });
    expect(rejections(second)).toEqual([null, 'jump']);
    // Without the previous page, only the fixes before the time range can show it.
    world.fixesBefore = [];
    expect(rejections(await world.call('GET', asked(van.id), { jwt }))).toEqual([null, 'jump']);
  });

  test('of a vehicle that one may not see does not exist, and the archive is not asked', async () => {
    const van = (await addVehicle({ name: 'Van' })).body;
    const anna = await world.member('anna');
    expect((await world.call('GET', asked(van.id), { jwt: anna.jwt })).status).toBe(404);
    expect(world.tracksAsked).toEqual([]);
  });

  test('needs times that are some, in order', async () => {
    const van = (await addVehicle({ name: 'Van' })).body;
    const errors = async (query: string) =>
      (await world.call('GET', `/api/v1/reports/track?vehicleId=${van.id}&${query}`, { jwt })).body.errors;
    const noon = '2026-01-15T12:00:00.000Z';
    expect(await errors(`from=yesterday&to=${noon}`)).toMatchObject([{ parameter: 'from' }]);
    expect(await errors(`from=2026-01-15T12:00:00&to=${noon}`)).toMatchObject([{ parameter: 'from' }]);
    expect(await errors(`from=${noon}`)).toMatchObject([{ parameter: 'to' }]);
    expect(await errors(`from=${noon}&to=${noon}`)).toMatchObject([{ parameter: 'to' }]);
    expect(await errors(`from=${noon}&to=2026-01-16T12:00:00Z&cursor=IiI`)).toMatchObject([{ parameter: 'cursor' }]);
  });
});

describe('moved to another dealer', () => {
  const move = (body: object, as = jwt) => world.call('POST', '/api/v1/vehicles/move', { jwt: as, body });

  test('a vehicle stays with its history, and the other dealer gets one whose history begins then', async () => {
    const [one, other] = [await world.member('one', 'dealer'), await world.member('other', 'dealer')];
    const { body: van } = await addVehicle({ name: 'Van', terminalId: '1' }, one.jwt);
    const positionOf = async (id: string, as: string) =>
      (await world.call('GET', `/api/v1/vehicles/${id}/state`, { jwt: as })).body.position;
    const was = sampleStatus(van.id, blankPosition(world.nowMs, 1, 2), world.nowMs);
    await world.hub.updateLatest([was]);
    expect(await positionOf(van.id, one.jwt)).toMatchObject({ latitude: 1 });

    const patch = { jwt, body: { dealerId: other.user.id } };
    const refused = await world.call('PATCH', `/api/v1/vehicles/${van.id}`, patch);
    expect([refused.status, refused.body.errors?.[0]?.pointer]).toEqual([400, '/dealerId']);
    expect(refused.body.errors[0].detail).toContain('/api/v1/vehicles/move');
    const row = { jwt, headers: { 'content-type': 'text/csv' }, body: `id,dealerId\n${van.id},${other.user.id}` };
    const imported = await world.call('POST', '/api/v1/vehicles/import', row);
    expect([imported.status, imported.body.errors?.[0]?.column]).toEqual([400, 'dealerId']);

    for (const { jwt: as } of [one, other])
      expect((await move({ ids: [van.id], dealerId: other.user.id }, as)).status).toBe(403);
    const { status, body } = await move({ ids: [van.id], dealerId: other.user.id });
    expect([status, body.items]).toEqual([200, [{ id: van.id, vehicleId: expect.not.stringMatching(van.id) }]]);
    const [{ vehicleId }] = body.items;
    const seen = async (id: string, as: string) =>
      (await world.call('GET', `/api/v1/vehicles/${id}`, { jwt: as })).body;
    expect(await seen(van.id, one.jwt)).toMatchObject({ name: 'Van', terminalId: null, historyFrom: null });
    expect(await seen(vehicleId, other.jwt)).toMatchObject({
      ...{ name: 'Van', terminalId: '1', dealerId: other.user.id },
      historyFrom: new Date(world.nowMs).toISOString(),
    });
    expect([(await seen(van.id, other.jwt)).status, (await seen(vehicleId, one.jwt)).status]).toEqual([404, 404]);
    expect(await positionOf(van.id, one.jwt)).toMatchObject({ latitude: 1 });
    expect(await positionOf(vehicleId, other.jwt)).toBeNull();
    // Nobody but the operator sees that the one has to do with the other.
    expect(JSON.stringify(await seen(vehicleId, other.jwt))).not.toContain(van.id);
    const trail = await world.call('GET', '/api/v1/audit?action=moved', { jwt: one.jwt });
    expect(trail.body.items).toMatchObject([
      {
        subject: { id: van.id },
        before: { dealerId: one.user.id },
        after: { dealerId: null, history: 'apart', vehicleIds: [] },
      },
    ]);
  });

  test('or it changes hands with its history; what can not be moved is named', async () => {
    const other = await world.member('other', 'dealer');
    const { body: van } = await addVehicle({ name: 'Van' });
    const ids = [van.id];
    for (const [wrong, pointer] of [
      [{ ids: [ABSENT], dealerId: other.user.id }, '/ids/0'],
      [{ ids, dealerId: operator.user.id }, '/dealerId'],
      [{ ids, dealerId: ABSENT }, '/dealerId'],
      [{ ids, dealerId: other.user.id, history: 'half' }, '/history'],
      [{ ids }, '/dealerId'],
    ] as const) {
      const { status, body } = await move(wrong);
      expect([status, body.errors?.[0]?.pointer], JSON.stringify(wrong)).toEqual([400, pointer]);
    }
    const along = await move({ ids, dealerId: other.user.id, history: 'along' });
    expect(along.body.items).toEqual([{ id: van.id, vehicleId: van.id }]);
    expect((await world.call('GET', `/api/v1/vehicles/${van.id}`, { jwt: other.jwt })).body).toMatchObject({
      ...{ name: 'Van', dealerId: other.user.id, historyFrom: null },
    });
    // It is there already.
    expect((await move({ ids, dealerId: other.user.id })).body.items).toEqual([{ id: van.id, vehicleId: van.id }]);
  });
});
