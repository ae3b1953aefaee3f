import { blankPosition, type Position, type TerminalId } from '@outrider/domain';
import { sampleStatus } from '@outrider/domain/samples';
import { compileExpression } from '@outrider/engine';
import { SENSOR_PRESETS } from '@outrider/protocols';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { World } from './api.fixture.ts';

let world: World;
let jwt: string;
beforeEach(async () => {
  world = await World.open();
  ({ jwt } = await world.member('boss', 'operator'));
});
afterEach(() => world.close());

const CARGO = { name: 'Cargo', kind: 'temperature', unit: '°C', source: 'temperature1C' };
const HOT = { condition: 'above', max: -15, hysteresis: 1, forSeconds: 300 };

const add = (body: object) => world.call('POST', '/api/v1/vehicles', { jwt, body });
const patch = (id: string, body: object) => world.call('PATCH', `/api/v1/vehicles/${id}`, { jwt, body });

test('sensors have ids that stay with their names, and thresholds that stay with their terms', async () => {
  const { status, body } = await add({ name: 'Van', sensors: [{ ...CARGO, thresholds: [HOT] }] });
  expect(status).toBe(201);
  const [cargo] = body.sensors;
  expect(cargo).toEqual({
    ...CARGO,
    ...{ id: cargo.id, calibration: [], outside: 'extrapolate', validMin: null, validMax: null },
    ...{ onlyWithIgnition: false, smoothing: 1 },
    thresholds: [{ ...HOT, id: cargo.thresholds[0].id, min: null }],
  });
  const cold = { condition: 'below', min: -30 };
  const next = await patch(body.id, { sensors: [{ ...CARGO, name: 'cargo', smoothing: 3, thresholds: [cold, HOT] }] });
  expect(next.body.sensors).toMatchObject([
    { id: cargo.id, name: 'cargo', smoothing: 3, thresholds: [cold, { id: cargo.thresholds[0].id }] },
  ]);
  const renamed = await patch(body.id, {
    sensors: next.body.sensors.map((each: object) => ({ ...each, name: 'Box' })),
  });
  expect(renamed.body.sensors).toEqual([{ ...next.body.sensors[0], name: 'Box' }]);
  expect((await patch(body.id, { sensors: renamed.body.sensors })).headers.get('etag')).toBe('"3"');
  expect((await world.call('GET', `/api/v1/vehicles/${body.id}`, { jwt })).body).toEqual(renamed.body);
  expect(world.directory.vehicles.get(body.id)?.sensors).toEqual(renamed.body.sensors);
  expect((await patch(body.id, { sensors: [] })).body.sensors).toEqual([]);
});

test('what is wrong with a sensor is refused at its place, with the reason', async () => {
  const { id } = (await add({ name: 'Van' })).body;
  const refusals = async (...sensors: object[]) => (await patch(id, { sensors })).body.errors;
  expect(await refusals(CARGO, { ...CARGO, name: 'Door', source: 'io9 +' })).toEqual([
    { pointer: '/sensors/1/source', detail: expect.stringContaining('At character 6: Unexpected token') },
  ]);
  expect(await refusals({ ...CARGO, source: 'state.matches("(a+)+")' })).toMatchObject([
    { pointer: '/sensors/0/source' },
  ]);
  expect(await refusals({ ...CARGO, kind: 'warmth' })).toMatchObject([{ pointer: '/sensors/0/kind' }]);
  expect(await refusals(CARGO, { ...CARGO, name: 'CARGO' })).toMatchObject([{ pointer: '/sensors/1/name' }]);
  expect(await refusals({ ...CARGO, validMin: 2, validMax: 1 })).toMatchObject([{ pointer: '/sensors/0/validMax' }]);
  const points = (...raws: number[]) => ({ ...CARGO, calibration: raws.map((raw) => ({ raw, value: raw })) });
  expect(await refusals(points(1, 2, 2))).toMatchObject([{ pointer: '/sensors/0/calibration/2/raw' }]);
  for (const [threshold, field] of [
    [{ condition: 'above' }, 'max'],
    [{ condition: 'above', min: 1, max: 2 }, 'min'],
    [{ condition: 'inside', min: 2, max: 1 }, 'max'],
    [{ condition: 'outside', max: 1 }, 'min'],
    [{ condition: 'outside', min: 2, max: 8, hysteresis: 3.1 }, 'hysteresis'],
    [{ condition: 'inside', min: 2, max: 8, hysteresis: 4 }, 'hysteresis'],
  ] as const)
    expect(await refusals({ ...CARGO, thresholds: [threshold] })).toMatchObject([
      { pointer: `/sensors/0/thresholds/0/${field}` },
    ]);
  const large = Array.from({ length: 200 }, (_, raw) => ({ raw, value: raw }));
  const many = Array.from({ length: 20 }, (_, n) => ({ ...CARGO, name: `S${n}`, calibration: large }));
  expect(await refusals(...many)).toMatchObject([{ pointer: '/sensors' }]);
});

test('a range that is as wide as twice its hysteresis is one whose event can end', async () => {
  const thresholds = [{ condition: 'outside', min: 2, max: 8, hysteresis: 3 }];
  expect((await add({ name: 'Van', sensors: [{ ...CARGO, thresholds }] })).status).toBe(201);
});

test('the names of all sensors that the caller may see are listed, each once', async () => {
  const boss = await world.member('dealer', 'dealer');
  const contact = { name: 'Door', kind: 'digital', source: 'io1' };
  await add({ name: 'A', sensors: [CARGO, contact] });
  await add({ name: 'B', sensors: [{ ...contact, name: 'DOOR' }] });
  expect((await world.call('GET', '/api/v1/sensors', { jwt })).body).toEqual({
    items: [
      { name: 'Cargo', kind: 'temperature', unit: '°C', vehicles: 1 },
      { name: 'Door', kind: 'digital', unit: '', vehicles: 2 },
    ],
  });
  expect((await world.call('GET', '/api/v1/sensors', { jwt: boss.jwt })).body).toEqual({ items: [] });
});

test('a notification rule names sensors of vehicles that the caller may see, and keeps those that are gone', async () => {
  const van = (await add({ name: 'Van', sensors: [{ ...CARGO, thresholds: [HOT] }] })).body;
  const rules = '/api/v1/notification-rules';
  const rule = (sensors: string[]) => ({ name: sensors.join(), eventKinds: ['sensor-threshold'], sensors });
  const saved = await world.call('POST', rules, { jwt, body: rule(['CARGO', van.sensors[0].id]) });
  expect(saved.body).toMatchObject({ sensors: ['CARGO', van.sensors[0].id] });
  const unknown = { errors: [{ pointer: '/sensors/1', detail: expect.stringContaining('sensor of this name or id') }] };
  expect((await world.call('POST', rules, { jwt, body: rule(['cargo', 'Boot']) })).body).toMatchObject(unknown);
  const draft = { eventKinds: ['sensor-threshold'], sensors: ['cargo', 'Boot'] };
  expect((await world.call('POST', `${rules}/test`, { jwt, body: draft })).body).toMatchObject(unknown);
  const { jwt: stranger } = await world.member('stranger');
  expect((await world.call('POST', rules, { jwt: stranger, body: rule(['cargo']) })).status).toBe(400);

  await patch(van.id, { sensors: [] });
  const path = `${rules}/${saved.body.id}`;
  const kept = await world.call('PATCH', path, { jwt, body: { sensors: ['CARGO'] } });
  expect(kept).toMatchObject({ status: 200, body: { sensors: ['CARGO'] } });
  expect((await world.call('PATCH', path, { jwt, body: { sensors: ['cargo'] } })).status).toBe(400);
  expect((await world.call('PATCH', path, { jwt, body: { sensors: null } })).body.sensors).toBeNull();
});

test('the sensors of one vehicle are copied to many by one change', async () => {
  const ids = [(await add({ name: 'A', sensors: [CARGO] })).body.id, (await add({ name: 'B' })).body.id];
  const { sensors } = (await world.call('GET', `/api/v1/vehicles/${ids[0]}`, { jwt })).body;
  const copy = () => world.call('PATCH', '/api/v1/vehicles', { jwt, body: { ids, patch: { sensors } } });
  expect((await copy()).body).toMatchObject({ updated: 1, unchanged: 1 });
  expect((await world.call('GET', `/api/v1/vehicles/${ids[1]}`, { jwt })).body.sensors).toEqual(sensors);
});

test('a sensor is tried on the last records of the vehicle', async () => {
  const { id } = (await add({ name: 'Van' })).body;
  const trial = (body: object) => world.call('POST', `/api/v1/vehicles/${id}/sensor-trial`, { jwt, body });
  expect((await trial({ kind: 'fuel-level', source: 'raw' })).body).toEqual({ records: [], attributes: [] });
  const at = Date.UTC(2026, 0, 15, 11);
  const record = (second: number, attributes: Position['attributes']) => ({
    ...{ ...blankPosition(at + second * 1000, 59.93, 30.31), attributes },
    ...{ receivedAtMs: at, terminalId: '1' as TerminalId, rejection: null },
  });
  const positions = [record(0, { raw: 1000 }), record(10, { other: 1 }), record(20, { raw: 3000 })];
  await world.hub.updateLatest([sampleStatus(id, positions[2] as Position)]);
  world.trackAnswer = { positions, next: null } as never;
  const calibration = [
    { raw: 0, value: 0 },
    { raw: 4000, value: 400 },
  ];
  expect((await trial({ kind: 'fuel-level', source: 'raw', calibration, smoothing: 2, validMax: 350 })).body).toEqual({
    records: [
      { time: '2026-01-15T11:00:00.000Z', raw: 1000, value: 100 },
      { time: '2026-01-15T11:00:10.000Z', raw: null, value: null },
      { time: '2026-01-15T11:00:20.000Z', raw: 3000, value: 200 },
    ],
    attributes: ['other', 'raw'],
  });
  expect((await trial({ kind: 'fuel-level', source: 'raw *' })).body.errors).toMatchObject([{ pointer: '/source' }]);
});

test('presets are sensors that the API takes', async () => {
  const { body } = await world.call('GET', '/api/v1/sensor-presets', { jwt });
  expect(body.items).toEqual(SENSOR_PRESETS);
  for (const { sensors } of SENSOR_PRESETS) {
    for (const { source } of sensors) expect(() => compileExpression(source)).not.toThrow();
    expect((await add({ name: 'Van', sensors })).status).toBe(201);
  }
});

test('a report of sensors names those of its vehicles alone', async () => {
  await add({ name: 'Van', sensors: [CARGO] });
  const range = 'from=2026-01-15T00:00:00Z&to=2026-01-16T00:00:00Z';
  const report = (query: string) => world.call('GET', `/api/v1/reports/sensors?${range}&${query}`, { jwt });
  expect((await report('sensor=cargo&groupBy=sensor')).body).toMatchObject({ items: [], totals: { groups: [] } });
  expect(await report('sensor=cargo&sensor=Boot')).toMatchObject({
    status: 400,
    body: { errors: [{ parameter: 'sensor', detail: expect.stringContaining('of this name or id') }] },
  });
  const { jwt: stranger } = await world.member('stranger');
  const theirs = await world.call('GET', `/api/v1/reports/sensor-series?${range}&sensor=cargo`, { jwt: stranger });
  expect(theirs.status).toBe(400);
});
