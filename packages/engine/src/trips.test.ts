import type { FleetEvent, Position } from '@outrider/domain';
import { describe, expect, test } from 'vitest';
import { fix, reported, Scene, T0, VEHICLE, vehicle } from './scene.fixture.ts';

// Along the equator's neighbour 0.1 N, where 0.001° is 111.19 m.
const METRES = 111.195;
const minutes = (n: number) => 60 * n;
const scene = (fields: Parameters<typeof vehicle>[0] = {}) =>
  new Scene(vehicle(fields)).only('trip', 'parking', 'idling');
const at = (seconds: number, thousandths: number, speedKmh: number | null, fields: Partial<Position> = {}) =>
  fix(seconds, 0.1 + thousandths / 1000, 0.1, { speedKmh, ...fields });
const last = (events: readonly FleetEvent[], kind: FleetEvent['kind']) =>
  events.findLast((event) => event.kind === kind && event.phase === 'end');

describe('a trip', () => {
  test('begins with the first fix that moves and ends with the first of five minutes without', () => {
    const van = scene();
    expect(reported(van.drive(at(0, 0, 0), at(60, 0, 2), at(120, 1, 40)))).toEqual(['+trip @120']);
    expect(van.drive(at(180, 5, 60), at(240, 9, 0), at(539, 9, 0))).toEqual([]);
    const events = van.drive(at(540, 9, 0));
    expect(reported(events)).toEqual(['-trip @240 stopped', '+parking @240']);
    expect(events[0]).toMatchObject({
      vehicleId: VEHICLE,
      startedAtMs: T0 + 120_000,
      endedAtMs: T0 + 240_000,
      startLongitude: 0.101,
      longitude: 0.109,
      fromFixTimeMs: T0 + 120_000,
      fixTimeMs: T0 + 540_000,
      definitionVersion: 1,
      origin: 'live',
      inferred: false,
      movingMs: 120_000,
      idlingMs: 0,
      maxKmh: 60,
    });
    const trip = events[0] as Extract<FleetEvent, { kind: 'trip' }>;
    // With the way from where it stood to the first fix that moves; the mean is of the time since that fix.
    expect(trip.distanceM).toBeCloseTo(9 * METRES, 0);
    expect(trip.meanKmh).toBeCloseTo((8 * METRES * 3.6) / 120, 1);
  });

  test('goes on over a shorter pause, whose jitter is no distance and whose idling counts', () => {
    const van = scene();
    const on = { ignition: true };
    van.drive(at(0, 0, 40, on), at(60, 5, 40, on), at(120, 10, 0, on), at(180, 10.1, 1, on), at(240, 10, 0, on));
    van.drive(at(300, 15, 50, on), at(360, 20, 0, on));
    const trip = last(van.drive(at(360 + minutes(5), 20, 0, on)), 'trip');
    expect(trip).toMatchObject({ endedAtMs: T0 + 360_000, movingMs: 240_000, idlingMs: 120_000, endReason: 'stopped' });
    expect(trip && 'distanceM' in trip && trip.distanceM).toBeCloseTo(20 * METRES, 0);
  });

  test('is ended by the next fix that moves too, where that comes five minutes after the last', () => {
    const van = scene();
    van.drive(at(0, 0, 40), at(60, 5, 0));
    expect(reported(van.drive(at(60 + minutes(5), 5, 40)))).toEqual([
      '-trip @60 stopped',
      '+parking @60',
      '-parking @360 moved',
      '+trip @360',
    ]);
  });

  test('ends before a gap of more than an hour; what was in it is neither trip nor stop', () => {
    const van = scene();
    van.drive(at(0, 0, 40), at(60, 5, 50));
    expect(van.drive(at(60 + minutes(60), 80, 50))).toEqual([]);
    expect(reported(van.drive(at(61 + minutes(120), 160, 50)))).toEqual([
      `-trip @${60 + minutes(60)} gap`,
      '+trip @7261',
    ]);
  });

  test('a vehicle found after a gap where it stood has stood there', () => {
    const van = scene();
    van.drive(at(0, 0, 40), at(60, 5, 0));
    expect(reported(van.drive(at(minutes(600), 5.2, 0)))).toEqual(['-trip @60 stopped', '+parking @60']);
    // And one that is found elsewhere did something that nobody saw.
    expect(reported(van.drive(at(minutes(1200), 90, 0)))).toEqual([`-parking @${minutes(600)} gap`]);
    expect(reported(van.drive(at(minutes(1205), 90, 0)))).toEqual([`+parking @${minutes(1200)}`]);
  });

  test('counts the way from where it stood to the first fix that moves, where that is a movement and no jitter', () => {
    const tripFrom = (...fixes: Position[]) => {
      const van = scene();
      van.drive(...fixes, at(4000, 20, 40), at(4060, 20, 0));
      const trip = last(van.drive(at(4060 + minutes(5), 20, 0)), 'trip');
      return trip && 'distanceM' in trip ? trip.distanceM : Number.NaN;
    };
    // 333 m of the 20 lie before the first fix that moves, a minute or half an hour after the last that stood.
    expect(tripFrom(at(0, 0, 0), at(3600, 3, 40))).toBeCloseTo(20 * METRES, 0);
    expect(tripFrom(at(0, 0, 0), at(1800, 0, 0), at(3600, 3, 40))).toBeCloseTo(20 * METRES, 0);
    // 33 m in 30 s are 4 km/h and a movement, in half an hour they are the receiver's.
    expect(tripFrom(at(3570, 0, 0), at(3600, 0.3, 40))).toBeCloseTo(20 * METRES, 0);
    expect(tripFrom(at(1800, 0, 0), at(3600, 0.3, 40))).toBeCloseTo(19.7 * METRES, 0);
    // The odometer knows better, where there is one.
    const [before, after] = [{ odometerM: 1000 }, { odometerM: 1400 }];
    expect(tripFrom(at(0, 0, 0, before), at(3600, 3, 40, after))).toBeCloseTo(400 + 17 * METRES, 0);
    // Nothing is known of what was before: a first fix, and a gap that hides the way.
    expect(tripFrom(at(3600, 3, 40))).toBeCloseTo(17 * METRES, 0);
    expect(tripFrom(at(-1, 0, 0), at(3600, 3, 40))).toBeCloseTo(17 * METRES, 0);
  });

  test('a drive of an hour has its true length within 1 %, at a record each 10, 30 or 60 seconds', () => {
    for (const everyS of [10, 30, 60]) {
      let [truthM, reportedM] = [0, 0];
      for (let phase = 0; phase < everyS; phase += everyS / 10) {
        // Ten legs of about two kilometres: it speeds up to 50 km/h at 1 m/s², brakes alike, and stands for seven
        // minutes.
        const van = scene();
        const speedUpS = 50 / 3.6;
        const [legS, standS] = [160, minutes(7)];
        const legM = (50 / 3.6) * (legS - speedUpS);
        const within = (s: number): [metres: number, kmh: number] => {
          if (s >= legS) return [legM, 0];
          const fromEnd = Math.min(s, legS - s);
          const ms = Math.min(fromEnd, speedUpS);
          const near = ms ** 2 / 2 + Math.max(0, fromEnd - speedUpS) * speedUpS;
          return [s <= legS / 2 ? near : legM - near, 3.6 * ms];
        };
        for (let s = phase - minutes(7); s < 10 * (legS + standS); s += everyS) {
          const leg = Math.max(0, Math.floor(s / (legS + standS)));
          const [metres, kmh] = s < 0 ? [0, 0] : within(s - leg * (legS + standS));
          const events = van.drive(at(s, (leg * legM + metres) / METRES, Math.round(kmh * 10) / 10));
          for (const event of events) if (event.kind === 'trip' && event.phase === 'end') reportedM += event.distanceM;
        }
        truthM += 10 * legM;
      }
      expect(Math.abs(reportedM / truthM - 1), `${everyS} s: ${reportedM} of ${truthM} m`).toBeLessThan(0.01);
    }
  });

  test('of a vehicle that falls silent while it moves is over after a gap without packets, as a later fix would end it', () => {
    const silent = scene();
    silent.drive(at(0, 0, 40), at(60, 5, 50));
    expect(silent.advance(60 + minutes(60))).toEqual([]);
    const byClock = silent.advance(60 + minutes(60) + 1);
    expect(reported(byClock)).toEqual(['-trip @60 gap']);
    expect(silent.advance(60 + minutes(90))).toEqual([]);
    const received = scene();
    received.drive(at(0, 0, 40), at(60, 5, 50));
    const byFix = received.drive(at(minutes(300), 90, 50));
    expect(byFix[0]).toEqual(byClock[0]);
    expect(reported(silent.drive(at(minutes(300), 90, 50)))).toEqual([`+trip @${minutes(300)}`]);
    expect(silent.engine.takeLate()).toEqual([]);
  });

  test('of a vehicle that had come to stand when it fell silent ends there, wherever it is found', () => {
    for (const thousandths of [5, 90]) {
      const van = scene();
      van.drive(at(0, 0, 40), at(60, 5, 0), at(120, 5, 0));
      expect(reported(van.advance(minutes(70)))).toEqual(['-trip @60 stopped']);
      const found = van.drive(at(minutes(600), thousandths, 0));
      expect(reported(found)).toEqual(thousandths === 5 ? ['+parking @60'] : []);
      const received = scene();
      received.drive(at(0, 0, 40), at(60, 5, 0), at(120, 5, 0));
      expect(reported(received.drive(at(minutes(600), thousandths, 0)))).toEqual([
        '-trip @60 stopped',
        ...reported(found),
      ]);
    }
  });

  test('that the clock ended and that went on, as data shows that came late, is for a recalculation to repair', () => {
    const van = scene();
    van.drive(at(0, 0, 40), at(60, 5, 50));
    van.advance(60 + minutes(61));
    const events = van.send({ positions: [at(120, 10, 50), at(180, 15, 50)], receivedAtMs: T0 + 1000 * minutes(70) });
    expect(reported(events)).toEqual(['+trip @120']);
    expect(van.engine.takeLate()).toMatchObject([{ fromMs: T0 + 60_000, toMs: T0 + 180_000 }]);
    // A terminal that empties its memory for hours is not silent, however old its fixes are.
    const box = scene();
    for (let hour = 0; hour < 5; hour++)
      expect(
        reported(
          box.send({ positions: [at(60 * hour, hour, 50)], receivedAtMs: T0 + 1000 * minutes(600 + 50 * hour) }),
        ),
      ).toEqual(hour === 0 ? ['+trip @0'] : []);
  });

  test('with the ignition on, 50 m are movement whatever the speed', () => {
    const off = scene();
    expect(off.drive(at(0, 0, 0), at(60, 0.6, 0), at(120, 2, 1))).toEqual([]);
    const on = scene();
    const ignition = { ignition: true };
    expect(reported(on.drive(at(0, 0, 0, ignition), at(60, 0.4, 0, ignition), at(120, 0.5, 1, ignition)))).toEqual([
      '+trip @120',
    ]);
  });

  test.each([
    ['is always 0', () => 0],
    ['stands still', () => 9_650],
    ['stands still half way', (metres: number) => 9_650 + Math.min(metres, 12_500)],
    ['counts tenths of a metre as metres', (metres: number) => 9_650 + Math.round(metres / 10)],
    ['counts kilometres', (metres: number) => 9_000 + 1000 * Math.floor((650 + metres) / 1000)],
    ['is right', (metres: number) => 9_650 + metres],
  ])('of 25 km is one of 25 km where the odometer %s', (_, reading) => {
    const van = scene();
    const kmPoints = Array.from({ length: 56 }, (_each, nth) => {
      const metres = Math.min(500 * nth, 25_000);
      const speedKmh = nth < 51 ? 36 : 0;
      return at(50 * nth, metres / METRES, speedKmh, { odometerM: Math.round(reading(metres)) });
    });
    van.drive(...kmPoints);
    const trip = last(van.drive(at(50 * 55 + minutes(6), 25_000 / METRES, 0)), 'trip');
    expect(trip).toMatchObject({ movingMs: 2_550_000 });
    expect(Math.abs((trip as Extract<FleetEvent, { kind: 'trip' }>).distanceM - 25_000)).toBeLessThan(360);
  });

  test('of a terminal that always says 0 km/h is by its places', () => {
    for (const stepS of [1, 30]) {
      const van = scene();
      const stepM = 10 * stepS;
      const fixes = Array.from({ length: 12_000 / stepM + 1 }, (_, nth) =>
        at(minutes(10) + stepS * nth, (stepM * nth) / METRES, 0),
      );
      const driven = [...van.drive(at(0, 0, 0), at(minutes(9), 0, 0)), ...van.drive(...fixes)];
      const endS = minutes(10) + 1200;
      expect(van.engine.statusOf(VEHICLE)?.activity?.state).toBe('moving');
      const stands = Array.from({ length: 7 }, (_, nth) => at(endS + minutes(nth + 1), 12_000 / METRES, 0));
      const events = [...driven, ...van.drive(...stands)];
      expect(reported(events)).toEqual([
        '+parking @0',
        `-parking @${stepS === 1 ? 651 : 660} moved`,
        `+trip @${stepS === 1 ? 651 : 660}`,
        `-trip @${stepS === 1 ? endS : endS + 60} stopped`,
        `+parking @${stepS === 1 ? endS : endS + 60}`,
      ]);
      const trip = last(events, 'trip') as Extract<FleetEvent, { kind: 'trip' }>;
      expect(Math.abs(trip.distanceM - 12_000)).toBeLessThan(60);
      expect(trip.maxKmh).toBeCloseTo(36, 0);
    }
  });

  test('by places is as fast as its terminal says where that is more', () => {
    const van = scene({ movingSpeedKmh: 45 });
    const off = { ignition: false };
    van.drive(at(0, 0, 0), at(60, 5, 0), at(120, 5, 0), at(180, 9, 40, off), at(240, 9, 0, off));
    const trip = last(van.drive(at(180 + minutes(7), 9, 0, off)), 'trip');
    expect(trip).toMatchObject({ maxKmh: 40, startedAtMs: T0 + 60_000 });
  });

  test('is none where the receiver of a parked vehicle wanders', () => {
    const van = scene();
    const off = { ignition: false };
    const wandering = Array.from({ length: 300 }, (_, minute) =>
      at(minutes(minute), 0.9 * Math.sin(minute * 2.4), 3 + (minute % 9), off),
    );
    expect(reported(van.drive(...wandering))).toEqual(['+parking @0']);
    // One that is towed, or whose ignition is not wired, moves once it is away.
    expect(reported(van.drive(at(minutes(300), 4, 12, off), at(minutes(301), 8, 12, off)))).toEqual([
      '-parking @18000 moved',
      '+trip @18000',
    ]);
  });

  test('ends where the terminal repeats its last speed on one spot', () => {
    const van = scene();
    van.drive(at(0, 0, 50), at(10, 1.25, 50), at(20, 2.5, 50));
    const repeated = Array.from({ length: 40 }, (_, nth) => at(30 + 10 * nth, 2.5, 50));
    expect(reported(van.drive(...repeated))).toEqual(['-trip @30 stopped', '+parking @30']);
  });

  test('by the odometer where there is one, and where it says what can be', () => {
    const van = scene();
    van.drive(
      at(0, 0, 40, { odometerM: 1000 }),
      at(60, 5, 40, { odometerM: 1700 }),
      at(120, 10, 40, { odometerM: 2300 }),
    );
    // It is reset, leaps, and is not reported at all: then it is the way between the fixes.
    van.drive(at(180, 15, 40, { odometerM: 0 }), at(240, 20, 40, { odometerM: 900_000 }), at(300, 25, 0));
    const trip = last(van.drive(at(300 + minutes(5), 25, 0)), 'trip');
    expect(trip && 'distanceM' in trip && trip.distanceM).toBeCloseTo(1300 + 15 * METRES, 0);
  });

  test('the thresholds are the vehicle’s', () => {
    const van = scene({ movingSpeedKmh: 10, tripStopMinutes: 1, tripGapMinutes: 2 });
    expect(reported(van.drive(at(0, 0, 9), at(10, 1, 11), at(20, 2, 8), at(80, 2, 0)))).toEqual([
      '+trip @10',
      '-trip @20 stopped',
      '+parking @20',
    ]);
    expect(reported(van.drive(at(90, 3, 30), at(211, 20, 30)))).toEqual([
      '-parking @90 moved',
      '+trip @90',
      '-trip @90 gap',
      '+trip @211',
    ]);
  });

  test('an invalid fix and a jump are no movement', () => {
    const van = scene();
    expect(van.drive(at(0, 0, 0), at(10, 5, 90, { valid: false }), at(20, 900, 90), at(30, 0, 0))).toEqual([]);
  });

  test('a vehicle that is no longer defined ends its trip where it was last seen', () => {
    const van = scene();
    van.drive(at(0, 0, 40), at(60, 5, 40));
    expect(reported(van.remove('vehicle', VEHICLE, 2, 100))).toEqual(['-trip @60 no-longer-watched']);
  });
});

describe('a stop', () => {
  test('is parking with the ignition off or unknown, idling with it on', () => {
    for (const [ignition, kind] of [
      [null, 'parking'],
      [false, 'parking'],
      [true, 'idling'],
    ] as const) {
      const van = scene();
      van.drive(at(0, 0, 40, { ignition }), at(60, 5, 0, { ignition }));
      const events = van.drive(at(60 + minutes(5), 5, 0, { ignition }));
      expect(reported(events)).toEqual(['-trip @60 stopped', `+${kind} @60`]);
    }
  });

  test('becomes one of the other kind when the ignition has said so for five minutes', () => {
    const van = scene();
    const [on, off] = [{ ignition: true }, { ignition: false }];
    van.drive(at(0, 0, 40, on), at(60, 5, 0, on), at(400, 5, 0, on));
    // The driver starts once more, and then no more.
    expect(van.drive(at(460, 5, 0, off), at(500, 5, 0, on), at(600, 5, 0, off), at(899, 5, 0, off))).toEqual([]);
    const events = van.drive(at(900, 5, 0, off));
    expect(reported(events)).toEqual(['-idling @600 ignition', '+parking @600']);
    expect(events[0]).toMatchObject({ idlingMs: 500_000 });
    expect(last(van.drive(at(1000, 6, 30, on)), 'parking')).toMatchObject({ endReason: 'moved', idlingMs: 0 });
  });

  test('the first one is published as well: a vehicle that was never seen to move', () => {
    const van = scene();
    expect(van.drive(at(0, 0, 0), at(299, 0, 0))).toEqual([]);
    expect(reported(van.drive(at(300, 0, 0)))).toEqual(['+parking @0']);
  });
});
