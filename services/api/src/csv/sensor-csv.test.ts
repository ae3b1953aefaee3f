import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Answer, World } from '../api.fixture.ts';

let world: World;
let jwt: string;
beforeEach(async () => {
  world = await World.open();
  jwt = (await world.member('operator', 'operator')).jwt;
});
afterEach(() => world.close());

const send = (csv: string, query = ''): Promise<Answer> =>
  world.call('POST', `/api/v1/vehicles/sensors/import${query}`, {
    jwt,
    body: csv,
    headers: { 'content-type': 'text/csv' },
  });
const add = async (body: object): Promise<string> =>
  (await world.call('POST', '/api/v1/vehicles', { jwt, body })).body.id;
const sensorsOf = async (id: string) => (await world.call('GET', `/api/v1/vehicles/${id}`, { jwt })).body.sensors;
const exported = async (query = ''): Promise<string> =>
  (await world.call('GET', `/api/v1/vehicles/sensors/export${query}`, { jwt })).body;
const faults = ({ body }: Answer) =>
  body.errors.map(({ row, column }: { row: number; column?: string }) => `${row} ${column ?? ''}`.trim());

test('rows add sensors and change those of their name; a dry run says so and does nothing', async () => {
  const van = await add({ name: 'Van', plate: 'A1', sensors: [{ name: 'Hatch', kind: 'digital', source: 'input1' }] });
  const truck = await add({ name: 'Truck', terminalId: '356307042441013' });
  const [hatch] = await sensorsOf(van);
  const csv = [
    'vehicleName,terminalId,plate,name,kind,unit,source,calibration,validMin,onlyWithIgnition,smoothing,thresholds',
    'Truck,,,Tank,fuel-level,l,fuelLevel1,0=0 2048=182.5 4095=400,0,TRUE,5,below 20 | inside 30 40 hysteresis 2 for 60',
    ',356307042441013,,Cargo,temperature,°C,temperature1C,,,,,above -15 hysteresis 1 for 300',
    ',,A1,hatch,digital,,input2,,,,,',
  ].join('\r\n');
  const dry = await send(csv, '?dryRun=true');
  expect(dry.body).toMatchObject({ dryRun: true, created: 2, updated: 1, unchanged: 0 });
  expect(await sensorsOf(truck)).toEqual([]);

  const { status, body } = await send(csv);
  expect(status).toBe(200);
  const sensors = await sensorsOf(truck);
  expect(body.items).toEqual([
    { row: 2, vehicleId: truck, name: 'Tank', id: sensors[0].id, outcome: 'created' },
    { row: 3, vehicleId: truck, name: 'Cargo', id: sensors[1].id, outcome: 'created' },
    { row: 4, vehicleId: van, name: 'hatch', id: hatch.id, outcome: 'updated' },
  ]);
  const calibration = [
    { raw: 0, value: 0 },
    { raw: 2048, value: 182.5 },
    { raw: 4095, value: 400 },
  ];
  const [below, inside] = sensors[0].thresholds;
  expect(sensors[0]).toMatchObject({ calibration, validMin: 0, onlyWithIgnition: true, smoothing: 5 });
  expect(below).toMatchObject({ condition: 'below', min: 20, max: null, hysteresis: 0, forSeconds: 0 });
  expect(inside).toMatchObject({ condition: 'inside', min: 30, max: 40, hysteresis: 2, forSeconds: 60 });
  expect(sensors[1].thresholds).toMatchObject([{ condition: 'above', min: null, max: -15, forSeconds: 300 }]);
  expect(await sensorsOf(van)).toMatchObject([{ id: hatch.id, name: 'hatch', source: 'input2' }]);
});

test('what is exported goes in again and changes nothing, in both forms', async () => {
  const calibration = [
    { raw: -1.5, value: 0.25 },
    { raw: 10, value: 20 },
  ];
  const thresholds = [{ condition: 'outside', min: -30, max: -15.5, hysteresis: 0.5, forSeconds: 90 }];
  const cargo = { name: '=Cargo', kind: 'temperature', unit: '°C', source: 'min(t1, t2)', calibration, thresholds };
  const id = await add({ name: 'Van; "old"', sensors: [{ ...cargo, validMin: -60.5, smoothing: 3 }] });
  const before = await sensorsOf(id);
  for (const query of ['', '?excel=true']) {
    const csv = await exported(query);
    expect(csv).toContain("'=Cargo");
    expect((await send(csv.replace(/^\uFEFF/, ''))).body).toMatchObject({ created: 0, updated: 0, unchanged: 1 });
  }
  expect(await sensorsOf(id)).toEqual(before);
});

test('columns that are not there stay, and empty cells are the defaults', async () => {
  const id = await add({
    name: 'Van',
    sensors: [{ name: 'A', kind: 'voltage', unit: 'V', source: 'x', smoothing: 5 }],
  });
  await send('vehicleName,name,source\nVan,A,y\n');
  expect(await sensorsOf(id)).toMatchObject([{ kind: 'voltage', unit: 'V', source: 'y', smoothing: 5 }]);
  await send('vehicleName,name,smoothing,source\nVan,A,,\n');
  expect(await sensorsOf(id)).toMatchObject([{ source: 'y', smoothing: 1 }]);
});

test('all that is wrong is named by its row and column, and nothing is done', async () => {
  const id = await add({ name: 'Van', sensors: [{ name: 'Hatch', kind: 'digital', source: 'input1' }] });
  await add({ name: 'Twin' });
  await add({ name: 'Twin' });
  const answer = await send(
    [
      'vehicleName,name,kind,source,calibration,thresholds,smoothing,onlyWithIgnition',
      'Van,A,temperature,t1 +,,,,',
      'Van,B,warmth,t1,,,,',
      'Nobody,C,voltage,t1,,,,',
      'Twin,D,voltage,t1,,,,',
      ',E,voltage,t1,,,,',
      'Van,F,voltage,t1,1=2 3,,,',
      'Van,G,voltage,t1,,beyond 3,,',
      'Van,H,voltage,t1,,,many,maybe',
      'Van,I,voltage,t1,5=1 4=2,,99,',
      'Van,i,voltage,t1,,,,',
      'Van,J,,,,,,',
      'Van,K,voltage,t1,,outside 3,,',
      'Van,,voltage,t1,,,,',
    ].join('\n'),
  );
  expect(answer.status).toBe(400);
  expect(faults(answer).toSorted()).toEqual(
    [
      ...['2 source', '3 kind', '4 vehicleName', '5 vehicleName', '6 vehicleId', '7 calibration', '8 thresholds'],
      ...['9 smoothing', '9 onlyWithIgnition', '10 calibration', '10 smoothing', '11 name', '12 kind', '12 source'],
      ...['12 kind', '12 source', '13 thresholds', '14 name'],
    ].toSorted(),
  );
  expect(await sensorsOf(id)).toHaveLength(1);
  expect(faults(await send('vehicleName,colour\nVan,red'))).toEqual(['1 colour']);
});

test('those who may not change vehicles import nothing', async () => {
  const user = await world.member('user', 'user');
  const answer = await world.call('POST', '/api/v1/vehicles/sensors/import', {
    jwt: user.jwt,
    body: 'vehicleName,name\n',
    headers: { 'content-type': 'text/csv' },
  });
  expect(answer.status).toBe(403);
});
