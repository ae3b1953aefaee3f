import type { Position } from '@outrider/domain';
import { describe, expect, test } from 'vitest';
import { Engine } from './engine.ts';
import { fix, reported, Scene, T0, VEHICLE, vehicle } from './scene.fixture.ts';

const minutes = (n: number) => 60 * n;
const at = (seconds: number, thousandths: number, speedKmh: number, fields: Partial<Position> = {}) =>
  fix(seconds, 0.1 + thousandths / 1000, 0.1, { speedKmh, ...fields });
/** A record of a terminal without satellites. */
const blind = (seconds: number, fields: Partial<Position> = {}) => fix(seconds, 0, 0, { valid: false, ...fields });
const stateOf = ({ engine }: Scene) => {
  const { activity } = engine.statusOf(VEHICLE) ?? {};
  return activity && [activity.state, activity.sinceMs === null ? null : (activity.sinceMs - T0) / 1000];
};
const restoredFrom = (engine: Engine) => {
  const restored = new Engine();
  restored.restore(engine.takeChanges().filter((entry): entry is [string, Buffer] => entry[1] !== null));
  return restored;
};

describe('a vehicle that never had a fix', () => {
  test('is published with its first record: last contact, protocol, and what the record says', () => {
    const van = new Scene(vehicle());
    const record = blind(5, { ignition: true, supplyV: 12.4, alarms: ['sos'], attributes: { io21: 3 } });
    van.send({ positions: [record], protocol: 'teltonika', receivedAtMs: T0 + 6000 });
    expect(van.engine.takeUpdated()).toEqual([
      {
        vehicleId: VEHICLE,
        asOfMs: T0 + 6000,
        position: null,
        receivedAtMs: null,
        record,
        recordReceivedAtMs: T0 + 6000,
        lastContactAtMs: T0 + 6000,
        protocol: 'teltonika',
        activity: { state: 'unknown', sinceMs: null, ignition: true, alarms: ['sos'], geofenceIds: [], speeding: [] },
      },
    ]);
  });

  test('is offline when nothing comes any more, without an event, and online with the next record', () => {
    const van = new Scene(vehicle({ offlineAfterMinutes: 10 })).only('offline');
    van.drive(blind(0));
    van.engine.takeUpdated();
    expect(van.engine.hasSilent(T0 + minutes(10) * 1000)).toBe(true);
    expect(van.advance(minutes(10))).toEqual([]);
    expect(van.engine.hasSilent(T0 + minutes(11) * 1000)).toBe(false);
    expect(van.engine.takeUpdated()).toMatchObject([{ activity: { state: 'offline', sinceMs: T0 } }]);
    expect(van.drive(at(minutes(20), 0, 0))).toEqual([]);
    expect(stateOf(van)).toEqual(['parking', minutes(20)]);
  });
});

describe('the trip that a vehicle is on', () => {
  test('has at each standing the totals that its end there has, the step from where it last stood included', () => {
    const van = new Scene(vehicle({ tripStopMinutes: 5 })).only('trip');
    van.drive(at(0, 0, 0, { ignition: true }), at(60, 3, 40), at(120, 9, 60), at(180, 12, 0), at(240, 12, 0));
    expect(van.engine.statusOf(VEHICLE)?.trip).toMatchObject({ startedAtMs: T0 + 60_000, maxKmh: 60 });
    // A pause, and on.
    van.drive(at(300, 15, 40), at(360, 18, 0), at(420, 18, 0));
    const open = van.engine.statusOf(VEHICLE)?.trip;
    expect(restoredFrom(van.engine).statusOf(VEHICLE)?.trip).toEqual(open);
    expect(van.drive(at(720, 18, 0))).toMatchObject([{ ...open, phase: 'end', idlingMs: 60_000 }]);
    expect(van.engine.statusOf(VEHICLE)).not.toHaveProperty('trip');
  });

  test('is over when the clock ends it', () => {
    const van = new Scene(vehicle({ tripGapMinutes: 10 }));
    van.drive(at(0, 0, 30), at(10, 1, 30));
    expect(van.engine.statusOf(VEHICLE)).toHaveProperty('trip');
    van.advance(minutes(11));
    expect(van.engine.statusOf(VEHICLE)).not.toHaveProperty('trip');
  });
});

describe('the last record and the last position', () => {
  test('are kept apart, each with its own time, and survive a restart', () => {
    const van = new Scene(vehicle());
    const position = at(0, 0, 30, { fuelL: 40 });
    van.drive(position);
    const record = blind(30, { supplyV: 11.9, attributes: { io21: 1 } });
    van.send({ positions: [record], receivedAtMs: T0 + 31_000 });
    const expected = {
      position,
      receivedAtMs: T0,
      record,
      recordReceivedAtMs: T0 + 31_000,
      lastContactAtMs: T0 + 31_000,
    };
    expect(van.engine.statusOf(VEHICLE)).toMatchObject(expected);
    expect(restoredFrom(van.engine).statusOf(VEHICLE)).toEqual(van.engine.statusOf(VEHICLE));
  });

  test('are one where the record moved the vehicle', () => {
    const van = new Scene(vehicle());
    van.drive(at(0, 0, 30), at(10, 1, 30));
    const status = van.engine.statusOf(VEHICLE);
    expect(status?.record).toBe(status?.position);
    const again = restoredFrom(van.engine).statusOf(VEHICLE);
    expect(again?.record).toBe(again?.position);
  });

  test.each([
    ['an older record of a black box', blind(5), 10],
    ['a repetition', at(10, 1, 30), 10],
    ['a record of the same second', at(10, 1, 30, { alarms: ['sos'] }), 10],
    ['a record without a fix', blind(20), 20],
    ['a jump', at(20, 900, 30), 20],
    ['a clock that is not set, as it comes', blind(-T0 / 1000), -T0 / 1000],
  ])('%s', (_, record, seconds) => {
    const van = new Scene(vehicle());
    van.drive(at(0, 0, 30), at(10, 1, 30));
    van.send({ positions: [record], receivedAtMs: T0 + 60_000 });
    const status = van.engine.statusOf(VEHICLE);
    expect(((status?.record.fixTimeMs ?? 0) - T0) / 1000).toBe(seconds);
    expect(status?.record.alarms).toEqual(record.alarms);
    expect(status?.position).toMatchObject({ fixTimeMs: T0 + 10_000 });
    expect(status?.lastContactAtMs).toBe(T0 + 60_000);
  });

  test('are read from a state that an earlier version encoded', () => {
    const van = new Scene(vehicle());
    van.drive(at(0, 0, 30));
    const changes = van.engine.takeChanges().map(([key, value]): [string, Buffer] => {
      const encoded = JSON.parse(String(value));
      return [key, Array.isArray(encoded) ? Buffer.from(JSON.stringify(encoded.slice(0, 15))) : (value as Buffer)];
    });
    const restored = new Engine();
    restored.restore(changes);
    expect(restored.statusOf(VEHICLE)).toEqual({ ...van.engine.statusOf(VEHICLE), protocol: null });
  });
});

describe('the state', () => {
  test('is not moving at 0 km/h, though the trip goes on over the pause', () => {
    for (const [ignition, state] of [
      [false, 'parking'],
      [null, 'parking'],
      [true, 'idling'],
    ] as const) {
      const van = new Scene(vehicle()).only('trip', 'parking', 'idling');
      van.drive(at(0, 0, 40, { ignition }), at(60, 5, 40, { ignition }));
      expect(stateOf(van)).toEqual(['moving', 0]);
      van.drive(at(120, 10, 0, { ignition }));
      expect(stateOf(van)).toEqual([state, 120]);
      // Published five minutes later, with the same start.
      van.drive(at(120 + minutes(5), 10, 0, { ignition }));
      expect(stateOf(van)).toEqual([state, 120]);
    }
  });

  test('follows the ignition of records without a fix, as in an underground car park', () => {
    const van = new Scene(vehicle()).only('ignition');
    van.drive(at(0, 0, 40, { ignition: true }), at(60, 5, 40, { ignition: true }));
    van.drive(blind(90, { ignition: true }));
    expect(stateOf(van)).toEqual(['moving', 0]);
    expect(van.drive(blind(120, { ignition: false }))).toMatchObject([{ kind: 'ignition', phase: 'end' }]);
    expect(stateOf(van)).toEqual(['parking', 60]);
  });

  test('of a vehicle whose ignition is not wired is moving where it moves', () => {
    const van = new Scene(vehicle());
    van.drive(at(0, 0, 40, { ignition: false }), at(60, 5, 40, { ignition: false }));
    expect(stateOf(van)).toEqual(['moving', 0]);
  });

  test('is offline since the last contact, as the event says', () => {
    const van = new Scene(vehicle({ offlineAfterMinutes: 10 })).only('offline');
    van.drive(at(0, 0, 40), at(60, 5, 40));
    const [offline] = van.advance(60 + minutes(10));
    expect(stateOf(van)).toEqual(['offline', 60]);
    expect(offline).toMatchObject({ startedAtMs: T0 + 60_000 });
  });
});

test('a deleted vehicle is not published, nor one that is not defined yet', () => {
  const van = new Scene();
  van.drive(blind(0));
  expect(van.engine.takeUpdated()).toEqual([]);
  van.define(vehicle(), 10);
  expect(van.engine.takeUpdated()).toMatchObject([{ vehicleId: VEHICLE, lastContactAtMs: T0 + 10_000 }]);
  van.drive(blind(20));
  van.remove('vehicle', VEHICLE, 2, 30);
  expect(van.engine.takeUpdated()).toEqual([]);
  expect([...van.engine.allStatuses()]).toEqual([]);
});

describe('the level of the tank', () => {
  const drains = { tankCapacityL: 400, minDrainL: 10 };
  const record = (minute: number, fuelL: number) => at(60 * minute, 0, 0, { fuelL, ignition: false });

  test('is that of the first record, then smoothed, and goes with the drain that was published', () => {
    const truck = new Scene(vehicle(drains));
    truck.drive(record(0, 300));
    expect(truck.engine.statusOf(VEHICLE)?.tank).toEqual({ levelL: 300, capacityL: 400, atMs: T0 });
    const levels = [300, 40, 301, 299, 300, 300, 290, 270, 250, 230, 220, 220, 220, 220, 220];
    for (const [nth, level] of levels.entries()) truck.drive(record(nth + 1, level));
    const tank = truck.engine.statusOf(VEHICLE)?.tank;
    expect(tank).toMatchObject({ levelL: 220, change: 'fuel-drain' });
    expect(restoredFrom(truck.engine).statusOf(VEHICLE)?.tank).toEqual(tank);
    for (let minute = 16; minute < 26; minute++) truck.drive(record(minute, 220));
    expect(truck.engine.statusOf(VEHICLE)?.tank).toEqual({ levelL: 220, capacityL: 400, atMs: T0 + 24 * 60_000 });
  });

  test('is not known without a tank, or without records of it', () => {
    const van = new Scene(vehicle());
    van.drive(record(0, 300));
    expect(van.engine.statusOf(VEHICLE)).not.toHaveProperty('tank');
    const truck = new Scene(vehicle(drains));
    truck.drive(at(0, 0, 0));
    expect(truck.engine.statusOf(VEHICLE)).not.toHaveProperty('tank');
  });
});

describe('a terminal whose clock is fast', () => {
  const ahead = (seconds: number, leadS: number) => ({
    positions: [at(seconds + leadS, seconds / 10, 40)],
    receivedAtMs: T0 + 1000 * seconds,
  });

  test('by up to ten minutes is live from its third record on, by the times that it gives', () => {
    const van = new Scene(vehicle()).only('trip');
    const status = () => van.engine.statusOf(VEHICLE);
    van.send(ahead(0, 300));
    expect(status()).toMatchObject({ position: null, lastContactAtMs: T0, record: { fixTimeMs: T0 + 300_000 } });
    van.send(ahead(10, 300));
    expect(reported(van.send(ahead(20, 301)))).toEqual(['+trip @321']);
    expect(van.send(ahead(30, 299))).toEqual([]);
    expect(status()).toMatchObject({
      position: { fixTimeMs: T0 + 329_000 },
      lastContactAtMs: T0 + 30_000,
      activity: { state: 'moving' },
    });
  });

  test('for a moment only does not keep the vehicle from being live', () => {
    const van = new Scene(vehicle()).only('trip');
    van.send(ahead(0, 0));
    for (const [seconds, leadS] of [
      [10, 500],
      [20, 500],
      [30, 0],
      [40, 500],
      [50, 0],
    ] as const)
      van.send(ahead(seconds, leadS));
    expect(van.engine.statusOf(VEHICLE)).toMatchObject({
      position: { fixTimeMs: T0 + 50_000 },
      record: { fixTimeMs: T0 + 50_000 },
    });
  });
});

describe('packets of a fast clock that come again', () => {
  test('are no further evidence of it, even once their time has passed', () => {
    const van = new Scene(vehicle()).only('trip');
    const early = (seconds: number) => ({ positions: [at(seconds + 300, 0, 40)], receivedAtMs: T0 + 1000 * seconds });
    // A jump: it moves nothing, and is newer than all that was ahead.
    const far = { positions: [at(400, 50_000, 0)], receivedAtMs: T0 + 400_000 };
    van.drive(at(0, 0, 0));
    for (const packet of [early(0), early(10), far, early(0), early(10), early(20)]) van.send(packet);
    expect(van.engine.statusOf(VEHICLE)?.position?.fixTimeMs).toBe(T0);
  });
});

describe('signs of life', () => {
  const sign = (seconds: number) => ({ positions: [], receivedAtMs: T0 + 1000 * seconds });

  test('keep a vehicle online, and are its last contact', () => {
    const van = new Scene(vehicle({ offlineAfterMinutes: 1 })).only('offline');
    const events = [
      ...van.drive(at(0, 0, 0)),
      ...Array.from({ length: 10 }, (_, nth) => van.send(sign(10 + 10 * nth))).flat(),
    ];
    expect(events).toEqual([]);
    expect(van.engine.statusOf(VEHICLE)).toMatchObject({
      lastContactAtMs: T0 + 100_000,
      record: { fixTimeMs: T0 },
      activity: { state: 'parking' },
    });
    expect(reported(van.send(sign(161)))).toEqual(['+offline @100', '-offline @161 online']);
  });

  test('of a vehicle that sent nothing else are its last contact', () => {
    const van = new Scene(vehicle());
    van.send(sign(5));
    const status = { lastContactAtMs: T0 + 5000, position: null, activity: { state: 'unknown' } };
    expect(van.engine.statusOf(VEHICLE)).toMatchObject(status);
    expect(restoredFrom(van.engine).statusOf(VEHICLE)).toMatchObject(status);
  });
});
