import type { Alarm, Position } from '@outrider/domain';
import { describe, expect, test } from 'vitest';
import { Engine } from './engine.ts';
import { fix, reported, Scene, T0, VEHICLE, vehicle } from './scene.fixture.ts';

const scene = () => new Scene(vehicle()).only('ignition', 'alarm', 'power-cut');
const at = (seconds: number, fields: Partial<Position> = {}) => fix(seconds, 0.1, 0.1, fields);
const alarms = (...raised: Alarm[]) => ({ alarms: raised });

describe('ignition', () => {
  test('on and off; found on, it is on silently', () => {
    const van = scene();
    expect(van.drive(at(0, { ignition: true }), at(10))).toEqual([]);
    expect(reported(van.drive(at(20, { ignition: false })))).toEqual(['-ignition @20 switched-off']);
    expect(reported(van.drive(at(30, { ignition: true }), at(40), at(50, { ignition: false })))).toEqual([
      '+ignition @30',
      '-ignition @50 switched-off',
    ]);
  });
});

describe('alarms', () => {
  test('last from the first record that raises them to the first that does not', () => {
    const van = scene();
    const events = van.drive(at(0), at(10, alarms('sos')), at(20, alarms('sos', 'tamper')), at(30, alarms('tamper')));
    expect(reported(events)).toEqual(['+sos @10', '+tamper @20', '-sos @30 cleared']);
    expect(events[2]).toMatchObject({ startedAtMs: T0 + 10_000, fromFixTimeMs: T0 + 10_000, fixTimeMs: T0 + 30_000 });
  });

  test('are published with the very first fix', () => {
    expect(reported(scene().drive(at(0, alarms('sos'))))).toEqual(['+sos @0']);
  });

  test('are published without satellites, at the place where the vehicle was last seen', () => {
    for (const fields of [{ valid: false }, { latitude: 0, longitude: 0 }, { latitude: 91 }, { longitude: 9 }]) {
      const van = scene();
      const [event] = van.drive(at(0), at(10, { ...alarms('sos'), ...fields }));
      expect(event).toMatchObject({ alarm: 'sos', latitude: 0.1, longitude: 0.1, startedAtMs: T0 + 10_000 });
    }
  });

  test('are not published for a wrong clock, nor twice, nor from the past', () => {
    const van = scene();
    expect(van.send({ positions: [at(0), at(601, alarms('sos'))], receivedAtMs: T0 })).toEqual([]);
    van.drive(at(60));
    expect(van.drive(at(30, alarms('sos')), at(30, { ...alarms('sos'), valid: false }))).toEqual([]);
    const silent = at(70, { ...alarms('sos'), valid: false });
    expect(reported(van.drive(silent, silent, at(65)))).toEqual(['+sos @70']);
  });

  test('a vehicle that was never seen anywhere has no place to report', () => {
    expect(scene().drive(at(0, { ...alarms('sos'), valid: false }))).toEqual([]);
  });
});

describe('external power', () => {
  test('is cut when the terminal says so', () => {
    const events = scene().drive(at(0), at(10, alarms('power-cut')), at(20));
    expect(reported(events)).toEqual(['+power-cut @10', '-power-cut @20 restored']);
  });

  test('or when a supply that was there is measured no more', () => {
    const van = scene();
    const volts = (seconds: number, supplyV: number | null) => at(seconds, { supplyV });
    expect(van.drive(volts(0, 0), volts(10, 0), volts(20, 12.4), volts(30, 3), volts(40, null))).toEqual([]);
    expect(reported(van.drive(volts(50, 0.2), volts(60, 3), volts(70, null), volts(80, 12)))).toEqual([
      '+power-cut @50',
      '-power-cut @80 restored',
    ]);
  });
});

test('a vehicle that is no longer defined ends what lasted', () => {
  const van = scene();
  van.drive(
    at(0, { ignition: false }),
    at(10, { ignition: true, ...alarms('sos', 'power-cut') }),
    at(20, alarms('sos', 'power-cut')),
  );
  expect(reported(van.remove('vehicle', VEHICLE, 2, 100))).toEqual([
    '-ignition @20 no-longer-watched',
    '-sos @20 no-longer-watched',
    '-power-cut @20 no-longer-watched',
  ]);
});

describe('another record of the same second', () => {
  const all = ['alarm', 'ignition', 'power-cut'] as const;
  const at = (seconds: number, fields: Partial<Position> = {}) => fix(seconds, 0.1, 0.1, { speedKmh: 0, ...fields });

  test('is published: an SOS beside a periodic record, in one packet or two, whichever comes first', () => {
    const periodic = at(10, { ignition: true });
    const sos = at(10, { ignition: true, alarms: ['sos'] });
    for (const packets of [[[periodic, sos]], [[periodic], [sos]], [[sos, periodic]], [[sos], [periodic]]]) {
      const van = new Scene(vehicle()).only(...all);
      van.drive(at(0, { ignition: true }));
      expect(reported(packets.flatMap((positions) => van.drive(...positions)))).toEqual(['+sos @10']);
      expect(van.engine.takeLate()).toEqual([]);
      expect(reported(van.drive(at(20, { ignition: true })))).toEqual(['-sos @20 cleared']);
    }
  });

  test('sent again is no news, however often and across a restart', () => {
    const van = new Scene(vehicle()).only(...all);
    const [on, off] = [at(10, { ignition: true }), at(10, { ignition: false })];
    expect(reported(van.drive(at(0, { ignition: false }), on, off))).toEqual([
      '+ignition @10',
      '-ignition @10 switched-off',
    ]);
    expect(van.drive(on, off, on, { ...on, speedKmh: 3 })).toEqual([]);
    const kept = van.engine.takeChanges().filter((entry): entry is [string, Buffer] => entry[1] !== null);
    van.engine = new Engine();
    van.engine.restore(kept);
    expect(van.drive(on, off)).toEqual([]);
    expect(reported(van.drive(at(20, { ignition: true })))).toEqual(['+ignition @20']);
  });

  test('does not switch the ignition on twice: an event of that second has begun and ended', () => {
    const van = new Scene(vehicle()).only('ignition');
    const [on, off] = [at(10, { ignition: true }), at(10, { ignition: false })];
    const again = at(10, { ignition: true, alarms: ['sos'] });
    expect(reported(van.drive(at(0, { ignition: false }), on, off, again))).toEqual([
      '+ignition @10',
      '-ignition @10 switched-off',
    ]);
    expect(reported(van.drive(at(20, { ignition: true })))).toEqual(['+ignition @20']);
  });

  test('counts whether its fix is valid or not, before or after the one that moves the vehicle', () => {
    const [good, invalid] = [at(10), { ...at(10, { alarms: ['sos'] as const }), valid: false }];
    for (const positions of [
      [good, invalid],
      [invalid, good],
    ]) {
      const van = new Scene(vehicle()).only(...all);
      van.drive(at(0));
      expect(reported(van.drive(...positions))).toEqual(['+sos @10']);
      expect(van.engine.statusOf(VEHICLE)?.position?.fixTimeMs).toBe(T0 + 10_000);
    }
  });
});

describe('a fix ahead of its reception', () => {
  const at = (seconds: number, receivedSeconds: number, fields: Partial<Position> = {}) => ({
    positions: [fix(seconds, 0.1, 0.1, fields)],
    receivedAtMs: T0 + receivedSeconds * 1000,
  });

  test('of up to a minute moves the vehicle, of more does not: the true ones after it do', () => {
    const van = new Scene(vehicle()).only('alarm');
    van.send(at(60, 0));
    expect(van.engine.statusOf(VEHICLE)?.position?.fixTimeMs).toBe(T0 + 60_000);
    expect(van.send(at(640, 100, { alarms: ['sos'] }))).toEqual([]);
    expect(van.engine.takeLate()).toMatchObject([{ fromMs: T0 + 640_000, toMs: T0 + 640_000 }]);
    for (let second = 110; second < 640; second += 10) {
      van.send(at(second, second));
      expect(van.engine.statusOf(VEHICLE)?.position?.fixTimeMs).toBe(T0 + second * 1000);
    }
  });

  test('of a terminal whose clock is days ahead is not for the history, either', () => {
    const van = new Scene(vehicle());
    van.send(at(0, 0));
    van.send(at(2 * 86_400, 10));
    expect(van.engine.takeLate()).toEqual([]);
  });
});
