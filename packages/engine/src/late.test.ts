import type { TelemetryPacket, TerminalId } from '@outrider/domain';
import { describe, expect, test } from 'vitest';
import { Engine } from './engine.ts';
import { changeTo, FENCE, fix, geofence, T0, user, VEHICLE, vehicle } from './scene.fixture.ts';

const packet = (receivedAtMs: number, ...positions: TelemetryPacket['positions']): TelemetryPacket => ({
  vehicleId: VEHICLE,
  terminalId: '1' as TerminalId,
  protocol: 'teltonika',
  receivedAtMs,
  positions,
});
const at = (second: number) => T0 + second * 1000;
const engineWith = (minDwellSeconds = 0) => {
  const engine = new Engine();
  engine.load([user(), vehicle(), geofence({ id: FENCE, minDwellSeconds })].map((each) => changeTo(each)));
  let offset = 0;
  return {
    engine,
    take: (receivedAtMs: number, ...positions: TelemetryPacket['positions']) =>
      engine.process(packet(receivedAtMs, ...positions), offset++, []),
  };
};

describe('what comes late', () => {
  test('is returned as the interval that it lies in, once, and moves nothing', () => {
    const { engine, take } = engineWith();
    take(at(100), fix(50, 0.3, 0.3), fix(90, 0.3, 0.3));
    expect(engine.takeLate()).toEqual([]);
    expect(take(at(200), fix(70, 0.3, 0.3))).toBe(0);
    expect(take(at(300), fix(60, 0.3, 0.3), fix(80, 0.3, 0.3))).toBe(0);
    const late = { vehicleId: VEHICLE, fromMs: at(60), toMs: at(80), receivedAtMs: at(200) };
    expect(engine.takeLate()).toEqual([late]);
    expect(engine.takeLate()).toEqual([]);
    expect(engine.statusOf(VEHICLE)?.position?.fixTimeMs).toBe(at(90));
  });

  test('is not the same fix again, nor one that is nobody’s to believe', () => {
    const { engine, take } = engineWith();
    take(at(100), fix(90, 0.3, 0.3));
    take(at(200), fix(90, 0.3, 0.3));
    take(at(200), { ...fix(80, 0.3, 0.3), latitude: 91, fixTimeMs: 0 });
    expect(engine.takeLate()).toEqual([]);
  });

  test('is also what an older record says of ignition and alarms, though it has no place', () => {
    const { engine, take } = engineWith();
    take(at(100), fix(90, 0.3, 0.3));
    take(at(200), { ...fix(80, 0.3, 0.3), valid: false, alarms: ['sos'] });
    expect(engine.takeLate()).toMatchObject([{ fromMs: at(80), toMs: at(80) }]);
  });
});

describe('what is undecided', () => {
  const [inside, outside] = [
    [0.1, 0.1],
    [0.2, 0.2],
  ] as const;

  test('is a stay that is not long enough yet, and an absence that may be none', () => {
    const { engine, take } = engineWith(60);
    const moving = { speedKmh: 30 };
    take(at(600), fix(0, ...outside, moving), fix(600, ...inside, moving));
    expect(engine.undecidedSinceMs(VEHICLE)).toBe(at(600));
    take(at(700), fix(700, ...inside, { speedKmh: 31 }));
    expect(engine.undecidedSinceMs(VEHICLE)).toBeNull();
    take(at(1400), fix(1400, ...outside, moving));
    expect(engine.undecidedSinceMs(VEHICLE)).toBe(at(1400));
    take(at(1500), fix(1500, ...outside, { speedKmh: 31 }));
    expect(engine.undecidedSinceMs(VEHICLE)).toBeNull();
  });

  test('is a rest that may become a stop', () => {
    const { engine, take } = engineWith();
    take(at(0), fix(0, ...outside, { speedKmh: 30 }), fix(10, ...outside, { speedKmh: 0 }));
    expect(engine.undecidedSinceMs(VEHICLE)).toBe(at(10));
    take(at(320), fix(320, ...outside, { speedKmh: 0 }));
    expect(engine.undecidedSinceMs(VEHICLE)).toBeNull();
  });

  test('is what was found going on, where that is asked for', () => {
    const { engine, take } = engineWith();
    take(at(10), fix(10, ...inside, { speedKmh: 30 }));
    expect(engine.undecidedSinceMs(VEHICLE)).toBeNull();
    expect(engine.undecidedSinceMs(VEHICLE, at(10))).toBe(at(10));
    expect(engine.undecidedSinceMs(VEHICLE, at(11))).toBeNull();
  });
});

test('a vehicle that was forgotten is met for the first time again', () => {
  const { engine, take } = engineWith();
  take(at(100), fix(90, 0.3, 0.3));
  engine.forget(VEHICLE);
  expect(engine.vehicleCount).toBe(0);
  expect(engine.takeUpdated()).toEqual([]);
  expect(take(at(200), fix(10, 0.3, 0.3))).toBe(1);
  expect(engine.takeLate()).toEqual([]);
  expect(engine.statusOf(VEHICLE)?.position?.fixTimeMs).toBe(at(10));
});
