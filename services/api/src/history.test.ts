import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IMPORT_PROTOCOL, type TelemetryPacket, type Vehicle } from '@outrider/domain';
import { sampleVehicleFields } from '@outrider/domain/samples';
import { type Log, openSqliteLog, telemetryTopic } from '@outrider/log';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { World } from './api.fixture.ts';

let folder: string;
let log: Log;
let world: World;
let jwt: string;
let van: Vehicle;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'history-'));
  log = openSqliteLog({ path: join(folder, 'log.sqlite'), partitions: 1, startsRun: true });
  world = await World.open({}, { log });
  ({ jwt } = await world.member('boss', 'operator'));
  van = await world.registry.vehicles.create(sampleVehicleFields({ name: 'Van' }));
});
afterEach(async () => {
  await world.close();
  await log.close();
  await rm(folder, { recursive: true });
});

const send = (body: string, as = jwt) =>
  world.call('POST', `/api/v1/vehicles/${van.id}/history`, { jwt: as, body, headers: { 'content-type': 'text/csv' } });

async function appended(): Promise<TelemetryPacket[]> {
  const end = (await log.endOffsets(telemetryTopic)).get(0) ?? 0;
  const packets: TelemetryPacket[] = [];
  for await (const { records } of log.read(telemetryTopic, 0, 0, end))
    packets.push(...records.map(({ value }) => value));
  return packets;
}

describe('history of a vehicle', () => {
  test('is in the log before it is answered, in order, as what nobody sent', async () => {
    const rows = [
      'fixTime,latitude,longitude,valid,speedKmh,courseDeg,altitudeM,satellites,ignition,odometerM,supplyV,fuelL,alarms,attributes',
      '2026-01-14T10:01:00Z,59.91,30.31,,,,,,,,,,,',
      '2026-01-14T11:00:00+01:00,59.9,30.3,true,42.5,360,12,9,true,5000,13.9,40,"[""sos""]","{""io21"":4}"',
    ];
    const { status, body } = await send(`${rows.join('\r\n')}\r\n`);
    expect([status, body]).toEqual([
      200,
      { positions: 2, from: '2026-01-14T10:00:00.000Z', to: '2026-01-14T10:01:00.000Z' },
    ]);
    const [packet, ...others] = await appended();
    expect(others).toEqual([]);
    expect(packet).toMatchObject({
      vehicleId: van.id,
      protocol: IMPORT_PROTOCOL,
      receivedAtMs: Date.UTC(2026, 0, 14, 10, 1),
    });
    expect(packet?.positions).toMatchObject([
      {
        ...{ fixTimeMs: Date.UTC(2026, 0, 14, 10), latitude: 59.9, longitude: 30.3, valid: true, speedKmh: 42.5 },
        ...{ courseDeg: 0, altitudeM: 12, satellites: 9, ignition: true, odometerM: 5000, supplyV: 13.9, fuelL: 40 },
        ...{ alarms: ['sos'], attributes: { io21: 4 } },
      },
      { fixTimeMs: Date.UTC(2026, 0, 14, 10, 1), speedKmh: null, ignition: null, alarms: [], attributes: null },
    ]);
    const trail = await world.call('GET', `/api/v1/audit?subject=${van.id}&action=history-imported`, { jwt });
    expect(trail.body.items).toMatchObject([{ after: { positions: 2, from: '2026-01-14T10:00:00.000Z' } }]);
  });

  test('is taken as the report of tracks writes it, with semicolons too', async () => {
    const row = `${van.id};Van;2026-01-14T10:00:00.000Z;59,9;30,3;true;jump`;
    const { status } = await send(`vehicleId;vehicleName;fixTime;latitude;longitude;valid;rejection\r\n${row}\r\n`);
    expect(status).toBe(200);
    expect((await appended())[0]?.positions[0]).toMatchObject({ latitude: 59.9, longitude: 30.3 });
  });

  test('many rows are many packets', async () => {
    const rows = Array.from({ length: 250 }, (_, nth) => `${new Date(1.7e12 + nth * 1000).toISOString()},1,2`);
    expect((await send(`fixTime,latitude,longitude\n${rows.join('\n')}\n`)).body.positions).toBe(250);
    expect((await appended()).map(({ positions }) => positions.length)).toEqual([100, 100, 50]);
  });

  test('all rows are taken, or none: what is wrong is named', async () => {
    const { status, body } = await send(
      [
        'fixTime,latitude,longitude,speedKmh,ignition,alarms,attributes',
        '2026-01-14T10:00:00Z,59.9,30.3,10,true,,',
        'yesterday,91,30.3,-1,yes,sos,"{""a"":[]}"',
        '2026-01-14T10:00:00Z,,30.3,,,"[""fire""]",',
        '2027-01-14T10:00:00Z,1,2,,,,',
        '1999-01-14T10:00:00Z,1,2,,,,',
        '2026-01-14T10:00:00Z,0,0,,,,',
      ].join('\n'),
    );
    expect(status).toBe(400);
    expect(body.errors.map(({ row, column }: { row: number; column: string }) => `${row} ${column}`)).toEqual([
      ...['3 fixTime', '3 latitude', '3 ignition', '3 alarms', '3 attributes', '3 speedKmh'],
      ...['4 latitude', '4 alarms', '5 fixTime', '6 fixTime', '7 latitude'],
    ]);
    expect((await send('time,latitude,longitude\n')).body.errors).toMatchObject([{ row: 1, column: 'time' }]);
    expect(await appended()).toEqual([]);
  });

  test('is bounded by the minute, and for those who may change the vehicle', async () => {
    const one = 'fixTime,latitude,longitude\n2026-01-14T10:00:00Z,1,2\n';
    for (let nth = 0; nth < 3; nth++) expect((await send(one)).status).toBe(200);
    const refused = await send(one);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60']);
    world.nowMs += 60_000;
    expect((await send(one)).status).toBe(200);
    const groupId = (await world.registry.groups.create({ name: 'North', dealerId: null })).id;
    await world.registry.vehicles.update(van.id, null, { groupIds: [groupId] });
    const { jwt: reader } = await world.member('anna', 'user', { groupIds: [groupId] });
    expect((await send(one, reader)).status).toBe(403);
    expect((await send(one, (await world.member('eve')).jwt)).status).toBe(404);
  });
});
