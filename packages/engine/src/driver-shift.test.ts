import type { Position, SensorThreshold } from '@outrider/domain';
import { sampleSensor } from '@outrider/domain/samples';
import { expect, test } from 'vitest';
import { fix, geofence, reported, Scene, user, vehicle } from './scene.fixture.ts';

const van = () => new Scene(vehicle()).only('driver-shift', 'trip', 'alarm');
const at = (seconds: number, driverCode: string | null, fields: Partial<Position> = {}) =>
  fix(seconds, 0.1, 0.1, { ...fields, attributes: driverCode === null ? null : { driverCode } });
const shifts = (events: ReturnType<Scene['drive']>) => reported(events.filter(({ kind }) => kind === 'driver-shift'));
const ON = { ignition: true };
const OFF = { ignition: false };

test('a shift begins with a code and goes on over records without one, whichever way the code is written', () => {
  const events = van().drive(at(0, null, ON), at(60, '01:00-a b', ON), at(120, null, ON), at(180, '0100AB', ON));
  expect(shifts(events)).toEqual(['+driver 0100AB @60']);
});

test('another code ends it, and so does a terminal that says that no card is there', () => {
  const scene = van();
  expect(shifts(scene.drive(at(0, 'A1', ON), at(60, 'B2', ON), at(120, '0000000000', ON)))).toEqual([
    '+driver A1 @0',
    '-driver A1 @60 other-driver',
    '+driver B2 @60',
    '-driver B2 @120 card-removed',
  ]);
  const removed = fix(240, 0.1, 0.1, { attributes: { driverCode: 'B2', driverCardInserted: false } });
  expect(shifts(scene.drive(at(180, 'B2', ON), removed))).toEqual(['+driver B2 @180', '-driver B2 @240 card-removed']);
});

test('in one second a driver begins one shift, however often two cards take turns in it', () => {
  const [a, b, again] = [at(60, 'A1', ON), at(60, 'B2', OFF), at(60, 'A1', { ...ON, alarms: ['sos'] })];
  const scene = van();
  expect(shifts(scene.drive(at(0, null, ON), a, b, again))).toEqual([
    '+driver A1 @60',
    '-driver A1 @60 other-driver',
    '+driver B2 @60',
  ]);
  expect(shifts(scene.drive(at(61, 'A1', ON)))).toEqual(['-driver B2 @61 other-driver', '+driver A1 @61']);
});

test('over an hour out of use it ended with the last record that shows it, not with a break of an hour', () => {
  const scene = van();
  expect(shifts(scene.drive(at(0, 'A1', ON), at(300, null, ON), at(310, null, OFF), at(3900, null, ON)))).toEqual([
    '+driver A1 @0',
  ]);
  const events = scene.drive(at(3960, null, OFF), at(7500, null, OFF), at(7501, null, OFF));
  expect(shifts(events)).toEqual(['-driver A1 @3900 parked']);
  // The card that stayed in the reader is of a driver who is there.
  expect(shifts(scene.drive(at(8000, 'A1', OFF), at(11_600, 'A1', OFF), at(15_200, 'A1', OFF)))).toEqual([
    '+driver A1 @8000',
  ]);
});

test('events name the driver of their time, or the one who came while they lasted', () => {
  const scene = van();
  const drive = (seconds: number, code: string | null) => ({
    ...at(seconds, code, { ...ON, speedKmh: 50 }),
    longitude: 0.1 + seconds / 100_000,
  });
  const events = scene.drive(
    drive(0, null),
    drive(60, null),
    drive(120, 'A1'),
    { ...drive(180, null), alarms: ['sos'] },
    { ...drive(240, null), speedKmh: 0 },
    { ...drive(240, null), fixTimeMs: drive(600, null).fixTimeMs, speedKmh: 0 },
  );
  const named = events.map(({ kind, phase, driverCode = 'nobody' }) => `${kind} ${phase} ${driverCode}`);
  expect(named).toContain('trip begin nobody');
  expect(named).toContain('alarm begin A1');
  expect(named).toContain('trip end A1');
});

test('what ends where a sensor was last heard names who drove there, however many drove since', () => {
  const above: SensorThreshold = {
    ...{ id: '00000000-0000-7000-8000-0000000000e2', condition: 'above', min: null, max: 0 },
    ...{ hysteresis: 0, forSeconds: 0 },
  };
  const sensor = sampleSensor({ source: 't', thresholds: [above] });
  const scene = new Scene(user(), vehicle({ sensors: [sensor] })).only('sensor-threshold');
  scene.drive(at(0, 'A1', ON), fix(10, 0.1, 0.1, { ...ON, attributes: { t: 5 } }));
  for (let nth = 1; nth <= 20; nth++) scene.drive(at(10 + nth * 60, nth % 2 ? 'B2' : 'C3', ON));
  const [end] = scene.define(vehicle({ version: 2, sensors: [] }), 2000);
  expect(end).toMatchObject({ phase: 'end', endReason: 'sensor-changed', driverCode: 'A1' });
});

test('a visit names who drove when it was left, however many cards were shown until it was sure', () => {
  const scene = new Scene(user(), vehicle(), geofence({ minDwellSeconds: 600 })).only('geofence-visit');
  const outside = (seconds: number, code: string | null) => ({
    ...at(seconds, code, { ...ON, speedKmh: 50 }),
    longitude: 0.04 + seconds / 10_000,
  });
  const inside = (seconds: number) => at(seconds, 'A1', ON);
  scene.drive(inside(0), inside(300), inside(700), outside(800, null));
  for (let nth = 1; nth <= 7; nth++) scene.drive(outside(800 + nth * 10, nth % 2 ? 'B2' : 'C3'));
  const end = scene.drive(outside(2000, null)).find(({ phase }) => phase === 'end');
  expect(end).toMatchObject({ kind: 'geofence-visit', endReason: 'left', driverCode: 'A1' });
});

test('a trip names who drove it, however many cards were shown since the vehicle came to stand', () => {
  const scene = van();
  const moving = (seconds: number) => ({ ...at(seconds, 'A1', { speedKmh: 50 }), longitude: 0.1 + seconds / 100_000 });
  const still = (seconds: number, code: string | null) => ({
    ...at(seconds, code, { speedKmh: 0 }),
    longitude: 0.1012,
  });
  scene.drive(moving(0), moving(60), moving(120), still(125, null));
  for (let nth = 1; nth <= 7; nth++) scene.drive(still(125 + nth * 10, nth % 2 ? 'B2' : 'C3'));
  const end = scene.drive(still(600, null)).find(({ kind, phase }) => kind === 'trip' && phase === 'end');
  expect(end).toMatchObject({ endReason: 'stopped', driverCode: 'A1' });
});

test('a trip that a gap ended names who drove it, however many cards were shown in the packet that ended it', () => {
  const moving = (seconds: number) => ({ ...at(seconds, 'A1', { speedKmh: 50 }), longitude: 0.1 + seconds / 100_000 });
  // Too far away to be true: only what they say of the driver counts.
  const jump = (nth: number) => fix(60 + nth * 10, 5 + nth, 5, { attributes: { driverCode: nth % 2 ? 'B2' : 'C3' } });
  const jumps = [1, 2, 3, 4, 5, 6, 7].map(jump);
  const end = van()
    .drive(moving(0), moving(60), ...jumps, { ...moving(3700), attributes: null })
    .find(({ kind, phase }) => kind === 'trip' && phase === 'end');
  expect(end).toMatchObject({ endReason: 'gap', driverCode: 'A1' });
});

test('the status names who drives', () => {
  const scene = van();
  scene.drive(at(0, 'A1', ON));
  expect(scene.engine.statusOf(vehicle().id)?.activity?.driverCode).toBe('A1');
  scene.drive(at(10, '0000', ON));
  expect(scene.engine.statusOf(vehicle().id)?.activity).not.toHaveProperty('driverCode');
});
