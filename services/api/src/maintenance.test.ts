import { COUNTERS_CHANNEL, type CountersNews, type GroupId, type User, type VehicleId } from '@outrider/domain';
import { sampleVehicleFields } from '@outrider/domain/samples';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ABSENT, type Answer, World } from './api.fixture.ts';

type Caller = { user: User; jwt: string };

let world: World;
/** How often counters were said to be read. */
let reads: number;
let dealer: Caller;
let stranger: Caller;
let anna: Caller;
let reader: Caller;
let van: VehicleId;
let group: GroupId;

beforeEach(async () => {
  reads = 0;
  world = await World.open({}, { countersRead: () => reads++ });
  dealer = await world.member('dealer', 'dealer');
  stranger = await world.member('stranger', 'dealer');
  group = (await world.registry.groups.create({ name: 'North', dealerId: dealer.user.id })).id;
  const more = { dealerId: dealer.user.id, groupIds: [group] };
  anna = await world.member('anna', 'user', { ...more, services: ['maintenance'] });
  reader = await world.member('reader', 'user', more);
  van = (await world.registry.vehicles.create(sampleVehicleFields({ name: 'Van', ...more }))).id;
});
afterEach(() => world.close());

const call = (method: string, path: string, { jwt }: Caller, body?: unknown): Promise<Answer> =>
  world.call(method, `/api/v1/${path}`, body === undefined ? { jwt } : { jwt, body });
const correct = (who: Caller, body: object) => call('POST', `vehicles/${van}/counter-corrections`, who, body);

test('a counter is set, shown from then on, and taken back; the audit trail has it', async () => {
  const set = await correct(anna, { counter: 'odometer', value: 120_000_000, note: 'Dashboard' });
  expect(set).toMatchObject({
    status: 201,
    body: { counter: 'odometer', value: 120_000_000, createdBy: anna.user.id },
  });
  await correct(anna, { counter: 'engine-hours', value: 3410.5 });
  const counters = await call('GET', `vehicles/${van}/counters`, reader);
  expect(counters.body).toMatchObject({ at: null, odometerM: 120_000_000, engineHours: 3410.5, settled: true });
  // Who did it is shown to the own organisation alone.
  expect(counters.body.corrections.map((each: { createdBy: string | null }) => each.createdBy)).toEqual([null, null]);
  expect((await call('DELETE', `vehicles/${van}/counter-corrections/${set.body.id}`, anna)).status).toBe(204);
  expect((await call('GET', `vehicles/${van}/counters`, dealer)).body).toMatchObject({ odometerM: 0 });
  const trail = await call('GET', 'audit?limit=100', dealer);
  const kinds = trail.body.items.map(({ subject, action }: { subject: { kind: string }; action: string }) => [
    subject.kind,
    action,
  ]);
  expect(kinds).toContainEqual(['counter-correction', 'created']);
  expect(kinds).toContainEqual(['counter-correction', 'deleted']);
});

test('who reads counters is noticed, so that they are counted more often; who may not, is not', async () => {
  await call('GET', `vehicles/${van}/counters`, stranger);
  expect(reads).toBe(0);
  await call('GET', `vehicles/${van}/counters`, reader);
  await call('GET', `vehicles/${van}/state`, reader);
  expect(reads).toBe(2);
});

test('who listens for counters learns of those that people corrected, and not of what was tried', async () => {
  const announced: string[][] = [];
  const leave = await world.hub.subscribe(COUNTERS_CHANNEL, (text) => {
    announced.push([...(JSON.parse(text) as CountersNews).vehicleIds]);
  });
  const set = await correct(anna, { counter: 'odometer', value: 120_000_000 });
  await correct(reader, { counter: 'odometer', value: 1 });
  await call('DELETE', `vehicles/${van}/counter-corrections/${set.body.id}`, anna);
  const text = 'vehicleName,counter,value,note\r\nVan,,120350,Dashboard\r\nVan,engine-hours,3410.5,\r\n';
  const bring = (query: string) =>
    world.call('POST', `/api/v1/counter-corrections/import${query}`, {
      jwt: anna.jwt,
      headers: { 'content-type': 'text/csv' },
      body: text,
    });
  await bring('?dryRun=true');
  expect((await bring('')).body).toMatchObject({ created: 2 });
  expect(announced).toEqual([[van], [van], [van]]);
  await leave();
});

test('what can’t be is refused, with the field', async () => {
  const future = new Date(world.nowMs + 3_600_000).toISOString();
  for (const [body, pointer] of [
    [{ counter: 'odometer', value: -1 }, '/value'],
    [{ counter: 'engine-hours', value: 2_000_000 }, '/value'],
    [{ counter: 'odometer', value: 5, at: future }, '/at'],
  ] as const) {
    const { status, body: problem } = await correct(anna, body);
    expect([status, problem.errors[0].pointer]).toEqual([400, pointer]);
  }
  const plan = (body: object) => call('POST', 'maintenance-plans', anna, { name: 'Oil', ...body });
  const every = { days: 90 };
  for (const [body, pointer] of [
    [{ vehicleId: van, every: {} }, '/every'],
    [{ vehicleId: van, groupId: group, every }, '/groupId'],
    [{ every }, '/vehicleId'],
    [{ vehicleId: ABSENT, every }, '/vehicleId'],
  ] as const) {
    const { status, body: problem } = await plan(body);
    expect([status, problem.errors?.[0]?.pointer], JSON.stringify(body)).toEqual([400, pointer]);
  }
  const record = await call('POST', `vehicles/${van}/service-records`, anna, { cost: { amount: 5, currency: 'euro' } });
  expect([record.status, record.body.errors[0].pointer]).toEqual([400, '/cost/currency']);
});

test('plans and services are read with their vehicle, and changed by who was granted that; to others they do not exist', async () => {
  const wish = { name: 'Oil', groupId: group, every: { distanceKm: 15_000, days: 365 }, warning: { distanceKm: 500 } };
  const { status, body: plan } = await call('POST', 'maintenance-plans', anna, wish);
  expect([status, plan.every]).toEqual([201, { distanceKm: 15_000, engineHours: null, days: 365, counter: null }]);
  const path = `maintenance-plans/${plan.id}`;
  expect((await call('GET', path, reader)).body).toEqual(plan);
  expect((await call('PATCH', path, reader, { name: 'Mine' })).status).toBe(403);
  expect((await call('GET', path, stranger)).status).toBe(404);
  expect((await call('GET', 'maintenance-plans', stranger)).body.items).toEqual([]);
  expect((await call('PATCH', path, dealer, { name: 'Oil and filter' })).body).toMatchObject({ version: 2 });

  const services = `vehicles/${van}/service-records`;
  const cost = { amount: 184.5, currency: 'EUR' };
  const made = await call('POST', services, anna, { planId: plan.id, cost, odometerM: 120_000_000 });
  expect(made).toMatchObject({ status: 201, body: { title: 'Oil and filter', cost, odometerM: 120_000_000 } });
  expect((await call('POST', services, reader, { planId: plan.id })).status).toBe(403);
  expect((await call('GET', services, stranger)).status).toBe(404);
  expect((await call('GET', services, reader)).body.items).toHaveLength(1);
  expect((await call('DELETE', path, anna)).status).toBe(204);
  expect((await call('GET', services, reader)).body.items).toMatchObject([{ planId: null, title: 'Oil and filter' }]);
  expect((await call('DELETE', `${services}/${made.body.id}`, anna)).status).toBe(204);
});

test('files of a service: kinds by their content, downloaded as attachments, gone with the record, counted as stored bytes', async () => {
  const record = (await call('POST', `vehicles/${van}/service-records`, anna, { title: 'Brakes' })).body;
  const files = `vehicles/${van}/service-records/${record.id}/files`;
  const pdf = Buffer.from('%PDF-1.7 an invoice').toString('base64');
  const html = Buffer.from('<script>alert(1)</script>').toString('base64');
  expect(await call('POST', files, anna, { name: 'a.pdf', content: html })).toMatchObject({
    status: 400,
    body: { errors: [{ pointer: '/content' }] },
  });
  const put = await call('POST', files, anna, { name: 'Rechnung März.pdf', content: pdf });
  expect(put).toMatchObject({ status: 201, body: { mediaType: 'application/pdf', bytes: 19 } });
  const path = `${files}/${put.body.id}`;
  const got = await call('GET', path, reader);
  expect(got.status).toBe(200);
  expect(got.headers.get('content-type')).toBe('application/pdf');
  expect(got.headers.get('content-disposition')).toBe(
    `attachment; filename="Rechnung_M_rz.pdf"; filename*=UTF-8''Rechnung%20M%C3%A4rz.pdf`,
  );
  expect(got.headers.get('x-content-type-options')).toBe('nosniff');
  const large = Buffer.alloc(2_000_000, '%PDF-').toString('base64');
  const photo = await call('POST', files, anna, { name: 'large.pdf', content: large });
  expect(photo).toMatchObject({ status: 201, body: { bytes: 2_000_000 } });
  expect((await call('DELETE', `${files}/${photo.body.id}`, anna)).status).toBe(204);
  expect(await world.serviceFiles.info(photo.body.id)).toBeNull();
  expect((await call('GET', path, stranger)).status).toBe(404);
  expect((await call('POST', files, reader, { name: 'b.pdf', content: pdf })).status).toBe(403);
  const { registry } = world;
  expect(await registry.quotas.use(anna.user.id, 'account', 'storageBytes')).toMatchObject({ used: 19 });
  expect(await registry.quotas.use(dealer.user.id, 'dealer', 'storageBytes')).toMatchObject({ used: 19 });
  await registry.quotas.set(anna.user.id, [{ scope: 'account', kind: 'storageBytes', limit: 30 }], async () => {});
  expect((await call('POST', files, anna, { name: 'b.pdf', content: pdf })).status).toBe(409);
  expect((await call('GET', `vehicles/${van}/service-records`, reader)).body.items).toMatchObject([
    { files: [{ name: 'Rechnung März.pdf', bytes: 19 }] },
  ]);
  expect((await call('DELETE', `vehicles/${van}/service-records/${record.id}`, anna)).status).toBe(204);
  expect((await call('GET', path, reader)).status).toBe(404);
  expect(await world.serviceFiles.info(put.body.id)).toBeNull();
});

const sensor = (name: string, more: object = {}) => ({
  ...{ name, kind: 'digital', unit: '', source: 'input2', calibration: [], outside: 'extrapolate' },
  ...{ validMin: null, validMax: null, onlyWithIgnition: false, smoothing: 1, thresholds: [], ...more },
});

const auditedOf = (items: readonly { action: string; subject: { kind: string } }[], kind: string) =>
  items.filter(({ subject }) => subject.kind === kind).map(({ action }) => action);

test('custom counters are made, read, set, changed with their version, and deleted by who may maintain', async () => {
  const path = `vehicles/${van}/counters`;
  const sensors = [sensor('Compressor'), sensor('Weight', { kind: 'weight', unit: 'kg', source: 'w' })];
  const { body: vehicle } = await call('PATCH', `vehicles/${van}`, dealer, { sensors });
  const [compressor, weight] = vehicle.sensors.map(({ id }: { id: string }) => id);
  for (const [body, pointer] of [
    [{ name: 'A', source: 'sensor-hours' }, '/sensorId'],
    [{ name: 'A', source: 'sensor-hours', sensorId: ABSENT }, '/sensorId'],
    [{ name: 'A', source: 'sensor-hours', sensorId: weight }, '/sensorId'],
    [{ name: 'A', source: 'sensor-hours', sensorId: compressor, unit: 'km' }, '/unit'],
    [{ name: 'A', source: 'manual', sensorId: weight }, '/sensorId'],
    [{ name: 'Odometer', source: 'manual' }, '/name'],
    [{ name: 'A', source: 'manual', startsAt: new Date(world.nowMs + 3_600_000).toISOString() }, '/startsAt'],
  ] as const) {
    const { status, body: problem } = await call('POST', path, anna, body);
    expect([status, problem.errors?.[0]?.pointer], JSON.stringify(body)).toEqual([400, pointer]);
  }
  const made = await call('POST', path, anna, { name: 'Cooling', source: 'sensor-hours', sensorId: compressor });
  expect(made).toMatchObject({ status: 201, body: { version: 1, unit: 'h', value: 0, sensorId: compressor } });
  expect(made.headers.get('location')).toBe(`/api/v1/${path}/${made.body.id}`);
  expect((await call('POST', path, anna, { name: 'COOLING', source: 'manual' })).status).toBe(409);
  const lifted = await call('POST', path, dealer, { name: 'Lifted', source: 'sensor-total', sensorId: weight });
  expect(lifted.body).toMatchObject({ unit: 'kg' });
  const own = `${path}/${made.body.id}`;
  expect((await call('POST', path, reader, { name: 'B', source: 'manual' })).status).toBe(403);
  expect((await call('GET', own, stranger)).status).toBe(404);
  expect((await call('DELETE', own, reader)).status).toBe(403);

  expect((await correct(anna, { counter: made.body.id, value: 812.5 })).body).toMatchObject({ value: 812.5 });
  const strange = await correct(anna, { counter: ABSENT, value: 5 });
  expect([strange.status, strange.body.errors[0].pointer]).toEqual([400, '/counter']);
  const { body: counters } = await call('GET', `vehicles/${van}/counters`, reader);
  expect(counters.custom).toMatchObject([
    { name: 'Cooling', value: 812.5 },
    { name: 'Lifted', value: 0 },
  ]);
  expect(counters.corrections).toMatchObject([{ counter: made.body.id, value: 812.5 }]);

  const stale = { jwt: anna.jwt, body: { name: 'Cold' }, headers: { 'if-match': '"9"' } };
  expect((await world.call('PATCH', `/api/v1/${own}`, stale)).status).toBe(412);
  for (const method of ['PATCH', 'DELETE']) {
    const { body, ...rest } = { ...stale, headers: { 'if-match': '1' } };
    const bad = await world.call(method, `/api/v1/${own}`, method === 'PATCH' ? { ...rest, body } : rest);
    expect([bad.status, bad.body.errors[0].parameter]).toEqual([400, 'If-Match']);
  }
  expect((await world.call('DELETE', `/api/v1/${own}`, { jwt: anna.jwt, headers: stale.headers })).status).toBe(412);
  expect((await call('PATCH', own, anna, { source: 'manual' })).body.errors[0].pointer).toBe('/sensorId');
  // A sensor that is deleted stays named, and the counter can be renamed all the same.
  await call('PATCH', `vehicles/${van}`, dealer, { sensors: [] });
  expect((await call('PATCH', own, anna, { name: 'Cold' })).body).toMatchObject({
    ...{ version: 2, name: 'Cold', sensorId: compressor, value: 812.5 },
  });
  expect((await call('DELETE', own, anna)).status).toBe(204);
  expect((await call('GET', own, anna)).status).toBe(404);
  const trail = await call('GET', 'audit?limit=100', dealer);
  expect(auditedOf(trail.body.items, 'custom-counter').toSorted()).toEqual(
    ['created', 'created', 'changed', 'deleted'].toSorted(),
  );
});

test('plans and readings may go by custom counters, by their names', async () => {
  await call('POST', `vehicles/${van}/counters`, anna, { name: 'Crane', source: 'manual', unit: 'lifts' });
  const plan = (body: object) => call('POST', 'maintenance-plans', anna, { name: 'Cable', ...body });
  for (const [body, pointer] of [
    [{ vehicleId: van, counterName: 'Crane', every: { days: 5 } }, '/every/counter'],
    [{ vehicleId: van, every: { counter: 5 } }, '/counterName'],
    [{ vehicleId: van, counterName: 'Winch', every: { counter: 5 } }, '/counterName'],
    [{ vehicleId: van, counterName: 'Crane', every: { counter: 5 }, warning: { counter: 6 } }, '/warning/counter'],
  ] as const) {
    const { status, body: problem } = await plan(body);
    expect([status, problem.errors?.[0]?.pointer], JSON.stringify(body)).toEqual([400, pointer]);
  }
  const made = await plan({ groupId: group, counterName: 'Winch', every: { counter: 5 } });
  expect(made.body).toMatchObject({ counterName: 'Winch', every: { counter: 5, days: null } });
  const own = await plan({ vehicleId: van, counterName: 'crane', every: { counter: 5000 }, warning: { counter: 100 } });
  expect(own.status).toBe(201);
  const send = (path: string, body: string) =>
    world.call('POST', `/api/v1/${path}`, { jwt: anna.jwt, body, headers: { 'content-type': 'text/csv' } });
  const plans = 'vehicleName,group,name,counter,everyCounter,warningCounter\r\nVan,,Oil,Crane,500,50\r\n';
  expect((await send('maintenance-plans/import', `${plans},North,Oil,Any,10,\r\n`)).body).toMatchObject({ created: 2 });
  const wrong = await send('maintenance-plans/import', `${plans}Van,,Oil,Winch,5,\r\nVan,,Oil,,5,\r\n`);
  expect(wrong.body.errors).toMatchObject([
    { row: 4, column: 'counter' },
    { row: 3, column: 'counter' },
  ]);
  const readings = 'vehicleName,counter,value\r\nVan,crane,1200\r\n';
  expect((await send('counter-corrections/import', readings)).body).toMatchObject({ created: 1 });
  const refused = await send('counter-corrections/import', `${readings}Van,Winch,7\r\n`);
  expect(refused.body.errors).toMatchObject([{ row: 3, column: 'counter' }]);
  const { body } = await call('GET', `vehicles/${van}/counters`, reader);
  expect(body.custom).toMatchObject([{ name: 'Crane', unit: 'lifts', value: 1200 }]);
});

test('plans and readings by CSV: a dry run says what is wrong, all or none are made', async () => {
  const send = (path: string, { jwt }: Caller, body: string) =>
    world.call('POST', `/api/v1/${path}`, { jwt, body, headers: { 'content-type': 'text/csv' } });
  const plans =
    'vehicleName;group;name;everyKm;everyDays;warningKm\r\nVan;;Oil;15000,5;;1000\r\n;North;Inspection;;365;\r\n';
  expect(await send('maintenance-plans/import?dryRun=true', anna, plans)).toMatchObject({
    status: 200,
    body: { dryRun: true, created: 2, items: [{ row: 2, id: null }, { row: 3 }] },
  });
  expect(await world.registry.maintenance.plans()).toEqual([]);
  const wrong = await send('maintenance-plans/import', anna, `${plans}Van;North;Both;1;;\r\nNo;;Gone;1;;2\r\n`);
  expect(wrong.status).toBe(400);
  expect(wrong.body.errors).toMatchObject([
    { row: 4, column: 'group' },
    { row: 5, column: 'warningKm' },
  ]);
  expect((await send('maintenance-plans/import', reader, plans)).status).toBe(403);
  expect((await send('maintenance-plans/import', anna, plans)).status).toBe(200);
  expect(await world.registry.maintenance.plans()).toMatchObject([
    { name: 'Oil', vehicleId: van, every: { distanceM: 15_000_500 }, warning: { distanceM: 1_000_000 } },
    { name: 'Inspection', groupId: group, every: { days: 365 } },
  ]);
  const readings = 'vehicleName,counter,value,note\r\nVan,,120350,Dashboard\r\nVan,engine-hours,3410.5,\r\n';
  expect((await send('counter-corrections/import', stranger, readings)).status).toBe(400);
  expect((await send('counter-corrections/import', anna, readings)).body).toMatchObject({ created: 2 });
  const counters = await call('GET', `vehicles/${van}/counters`, anna);
  expect(counters.body).toMatchObject({ odometerM: 120_350_000, engineHours: 3410.5 });
});
