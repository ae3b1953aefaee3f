import { describe, expect, test } from 'vitest';
import { createDriver, type DriverPlan, resumeDriver } from './driver.ts';
import { createRoadNetwork } from './roads.ts';

const network = createRoadNetwork(1);
const START_MS = Date.UTC(2026, 4, 4, 6);
const stops = network.sites.slice(0, 3).map((site) => site.junction);
const plan: DriverPlan = {
  stops,
  dwellSeconds: [60, 120],
  start: { at: 'stop', leavesAfterSeconds: 10 },
  haste: 0,
  topSpeedKmh: 130,
  reportSeconds: 1,
  parkedReportSeconds: 15,
  odometerM: 1_000_000,
  fuelL: 50,
  tankL: 70,
  litresPer100Km: 9,
};

function drive(minutes: number, changes: Partial<DriverPlan> = {}, seed = 5) {
  return createDriver(network, { ...plan, ...changes }, seed, START_MS).advanceTo(START_MS + minutes * 60_000);
}

/** Metres from a position to the nearest point of any road. */
function offRoadM(longitude: number, latitude: number): number {
  const [x, y] = network.plane.toPoint([longitude, latitude]);
  let nearestM = Number.POSITIVE_INFINITY;
  for (const road of network.roadsFrom.flat())
    for (let i = 1; i < road.path.length; i++) {
      const [ax, ay] = network.plane.toPoint(road.path[i - 1] as [number, number]);
      const [bx, by] = network.plane.toPoint(road.path[i] as [number, number]);
      const [dx, dy] = [bx - ax, by - ay];
      const share = Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy)));
      nearestM = Math.min(nearestM, Math.hypot(x - ax - share * dx, y - ay - share * dy));
    }
  return nearestM;
}

describe('a driver', () => {
  test('drives the same drive for the same seed, in whatever steps the time is passed in', () => {
    const inOne = drive(20);
    const driver = createDriver(network, plan, 5, START_MS);
    const inSteps = [];
    for (let timeMs = START_MS; timeMs < START_MS + 20 * 60_000; timeMs += 777)
      inSteps.push(...driver.advanceTo(timeMs));
    inSteps.push(...driver.advanceTo(START_MS + 20 * 60_000));
    expect(inSteps).toEqual(inOne);
    expect(drive(20, {}, 6)).not.toEqual(inOne);
  });

  test('reports at its interval while the ignition is on, and seldom while parked', () => {
    const positions = drive(30);
    const gaps = positions.slice(1).map((position, index) => {
      const before = positions[index] as (typeof positions)[number];
      return { seconds: (position.fixTimeMs - before.fixTimeMs) / 1000, ignition: before.ignition };
    });
    expect(gaps.filter((gap) => gap.ignition).every((gap) => gap.seconds === 1)).toBe(true);
    expect(gaps.some((gap) => !gap.ignition && gap.seconds === 15)).toBe(true);
    expect(positions[0]?.fixTimeMs).toBe(START_MS);
  });

  test('stays on the roads, but for the noise of its receiver', () => {
    for (const { longitude, latitude } of drive(10, { reportSeconds: 5 }))
      expect(offRoadM(longitude, latitude)).toBeLessThan(12);
  });

  test('goes as far as its speed says, and as its odometer says', () => {
    const positions = drive(30);
    let distanceM = 0;
    positions.forEach((position, index) => {
      const before = positions[index - 1];
      if (before) distanceM += ((before.speedKmh ?? 0) / 3.6) * ((position.fixTimeMs - before.fixTimeMs) / 1000);
    });
    const drivenM = (positions.at(-1)?.odometerM ?? 0) - plan.odometerM;
    expect(drivenM).toBeGreaterThan(5000);
    expect(Math.abs(distanceM - drivenM)).toBeLessThan(drivenM * 0.02);
  });

  test('speeds up and brakes no harder than a vehicle can', () => {
    const positions = drive(30);
    for (let i = 1; i < positions.length; i++) {
      const [before, after] = [positions[i - 1], positions[i]];
      if (!before || !after || after.fixTimeMs - before.fixTimeMs !== 1000) continue;
      const changeMps = ((after.speedKmh ?? 0) - (before.speedKmh ?? 0)) / 3.6;
      expect(Math.abs(changeMps)).toBeLessThan(3.5);
    }
  });

  test('keeps to the limits without haste, and with it is over them at times', () => {
    const fastest = Math.max(...network.roadsFrom.flat().map((road) => road.limitKmh));
    const speeds = (haste: number) =>
      drive(60, { haste, stops: [network.sites[9]?.junction ?? 0, network.sites[0]?.junction ?? 0] }).map(
        (position) => position.speedKmh ?? 0,
      );
    expect(Math.max(...speeds(0))).toBeLessThanOrEqual(fastest + 2);
    expect(Math.max(...speeds(0.3))).toBeGreaterThan(fastest + 5);
  });

  test('stands at each of its stops in turn', () => {
    const stood = new Set<number>();
    for (const position of drive(60)) {
      if (position.speedKmh !== 0) continue;
      stops.forEach((junction, index) => {
        const [a, b] = [
          network.junctions[junction] as [number, number],
          [position.longitude, position.latitude] as const,
        ];
        const [p, q] = [network.plane.toPoint(a), network.plane.toPoint(b)];
        if (Math.hypot(p[0] - q[0], p[1] - q[1]) < 15) stood.add(index);
      });
    }
    expect([...stood].sort()).toEqual([0, 1, 2]);
  });

  test('uses fuel, and fills up', () => {
    const positions = drive(240, { fuelL: 15, reportSeconds: 30 });
    const levels = positions.map((position) => position.fuelL ?? 0);
    expect(Math.max(...levels)).toBeGreaterThan(plan.tankL * 0.9);
    expect(Math.min(...levels)).toBeGreaterThan(0);
  });

  test('can begin on the road, under way', () => {
    const [first] = drive(0, { start: { at: 'road', of: stops[0] as number, withinM: 500 } });
    const target = network.plane.toPoint(network.junctions[stops[0] as number] as [number, number]);
    const here = network.plane.toPoint([first?.longitude ?? 0, first?.latitude ?? 0]);
    expect(Math.abs(Math.hypot(target[0] - here[0], target[1] - here[1]) - 500)).toBeLessThan(30);
    expect(first?.speedKmh).toBeGreaterThan(5);
  });

  test('goes on from its state, as text, as if nothing had been', () => {
    const endMs = START_MS + 40 * 60_000;
    const whole = drive(40);
    const first = createDriver(network, plan, 5, START_MS);
    const before = first.advanceTo(START_MS + 17 * 60_000 + 300);
    const state = JSON.parse(JSON.stringify(first.state()));
    expect([...before, ...resumeDriver(network, plan, state).advanceTo(endMs)]).toEqual(whole);
  });

  test('with a shift, rests at home outside its hours, until it is always on duty', () => {
    const night = new Date(2026, 4, 5, 2).getTime();
    const shift = { fromMinute: 480, toMinute: 960, weekdays: [1], staggerSeconds: 600, alwaysFromMs: night };
    const driver = createDriver(
      network,
      { ...plan, shift, reportSeconds: 10, parkedReportSeconds: 600, start: { at: 'stop', leavesAfterSeconds: 0 } },
      5,
      new Date(2026, 4, 4, 0).getTime(),
    );
    const positions = driver.advanceTo(night + 3600_000);
    const hours = new Set(
      positions.filter(({ speedKmh }) => (speedKmh ?? 0) > 5).map(({ fixTimeMs }) => new Date(fixTimeMs).getHours()),
    );
    // The last round of the day ends after its hours.
    for (const hour of [8, 10, 12, 15, 2]) expect(hours).toContain(hour);
    for (const hour of [18, 20, 23, 1]) expect(hours).not.toContain(hour);
    expect(positions.length).toBeLessThan(4500);
  });

  test('that rested for the night is on the road within a halt once it is not bound to hours any more', () => {
    const evening = new Date(2026, 4, 4, 22).getTime();
    const shift = { fromMinute: 480, toMinute: 960, weekdays: [1], staggerSeconds: 600, alwaysFromMs: evening + 1e9 };
    const resting = createDriver(network, { ...plan, shift }, 5, new Date(2026, 4, 4, 12).getTime());
    resting.advanceTo(evening);
    const positions = resumeDriver(network, plan, resting.state()).advanceTo(evening + 180_000);
    expect(positions.some(({ speedKmh }) => (speedKmh ?? 0) > 5)).toBe(true);
  });

  test('needs somewhere to go', () => {
    expect(() => drive(1, { stops: [3] })).toThrow(RangeError);
    expect(() => drive(1, { stops: [3, 3] })).toThrow(RangeError);
  });
});
