import { type Position, VEHICLE_DEFAULTS } from '@outrider/domain';
import { prepareShape } from '@outrider/geo';
import { describe, expect, test } from 'vitest';
import { createDemoDrivers, createDemoScenario } from './scenario.ts';

const START_MS = Date.UTC(2026, 4, 4, 6);
const scenario = createDemoScenario();

type Happening = 'entry' | 'exit' | 'speeding' | 'speeding in a zone';

/** What the fleet's own noisy fixes make happen, by minute. */
function happenings(minutes: number): Map<Happening, number[]> {
  const byKind = new Map<Happening, number[]>();
  const drives = createDemoDrivers(scenario, START_MS).map((driver) => driver.advanceTo(START_MS + minutes * 60_000));
  drives.forEach((positions, index) => {
    const vehicle = scenario.vehicles[index];
    if (!vehicle) return;
    const note = (kind: Happening, { fixTimeMs }: Position): void => {
      const counts = byKind.get(kind) ?? new Array(minutes + 1).fill(0);
      counts[Math.floor((fixTimeMs - START_MS) / 60_000)] += 1;
      byKind.set(kind, counts);
    };
    const { speedLimitKmh, speedToleranceKmh } = { ...VEHICLE_DEFAULTS, ...vehicle.profile };
    const limitKmh = (speedLimitKmh ?? Number.POSITIVE_INFINITY) + speedToleranceKmh;
    for (const { shape, speedLimitKmh } of scenario.geofences) {
      const prepared = prepareShape(shape);
      let before: { inside: boolean; over: boolean } | null = null;
      for (const position of positions) {
        const inside = prepared.contains(position.longitude, position.latitude);
        const over = inside && speedLimitKmh !== null && (position.speedKmh ?? 0) > speedLimitKmh;
        if (before && inside && !before.inside) note('entry', position);
        if (before && !inside && before.inside) note('exit', position);
        if (over && !before?.over) note('speeding in a zone', position);
        before = { inside, over };
      }
    }
    let over = false;
    for (const position of positions) {
      const now = (position.speedKmh ?? 0) > limitKmh;
      if (now && !over) note('speeding', position);
      over = now;
    }
  });
  return byKind;
}

describe('the demo fleet', () => {
  test('has 26 vehicles that drive and 2 that do not, each with texts of its own, of several protocols', () => {
    const { vehicles } = scenario;
    expect(vehicles).toHaveLength(28);
    expect(vehicles.filter(({ silentForDays }) => silentForDays === null)).toHaveLength(26);
    for (const name of ['name', 'plate', 'vin', 'terminalId'] as const)
      expect(new Set(vehicles.map(({ profile }) => profile[name])).size).toBe(28);
    expect(new Set(vehicles.map((vehicle) => vehicle.protocol))).toEqual(
      new Set(['teltonika', 'omnicomm', 'wialon-ips', 'osmand', 'jt808']),
    );
    for (const { group } of vehicles) expect(scenario.groups).toContain(group);
  });

  test('has a depot, customer sites, a toll road, and a zone with a limit of its own', () => {
    const types = scenario.geofences.map(({ shape }) => shape.type);
    expect(types.filter((type) => type === 'circle')).toHaveLength(8);
    expect(types).toContain('polygon');
    expect(types).toContain('multipolygon');
    expect(types).toContain('line');
    expect(scenario.geofences.filter(({ speedLimitKmh }) => speedLimitKmh === 40)).toHaveLength(1);
  });

  test('vehicles with limits exceed each of them within two minutes, and most of their way keep to them', () => {
    const drives = createDemoDrivers(scenario, START_MS).map((driver) => driver.advanceTo(START_MS + 20 * 60_000));
    const firstMs = new Map<string, number>();
    let fixes = 0;
    let exceeded = 0;
    scenario.vehicles.forEach(({ profile, sensors }, nth) => {
      const { harshAccelerationMps2 = null, harshBrakingMps2 = null, harshCorneringMps2 = null } = profile;
      if (harshAccelerationMps2 === null || harshBrakingMps2 === null || harshCorneringMps2 === null) return;
      const [threshold] = sensors.find(({ kind }) => kind === 'rpm')?.thresholds ?? [];
      const positions = drives[nth] ?? [];
      for (const [at, to] of positions.entries()) {
        const from = positions[at - 1];
        if (from === undefined || from.fixTimeMs < to.fixTimeMs - 5000) continue;
        const seconds = (to.fixTimeMs - from.fixTimeMs) / 1000;
        const [slow, fast] = [from, to].map(({ speedKmh }) => (speedKmh ?? 0) / 3.6) as [number, number];
        const turned = Math.abs((to.courseDeg ?? 0) - (from.courseDeg ?? 0));
        const turnRad = (Math.min(turned, 360 - turned) * Math.PI) / 180;
        const sideways = Math.min(slow, fast) > 4.2 ? (((slow + fast) / 2) * turnRad) / seconds : 0;
        const kinds = {
          acceleration: (fast - slow) / seconds > harshAccelerationMps2,
          braking: (slow - fast) / seconds > harshBrakingMps2,
          cornering: sideways > harshCorneringMps2,
          'over-revving': threshold !== undefined && Number(to.attributes?.rpm ?? 0) > (threshold.max ?? 0),
        };
        fixes += 1;
        if (kinds.acceleration || kinds.braking || kinds.cornering) exceeded += 1;
        for (const [kind, is] of Object.entries(kinds))
          if (is) firstMs.set(kind, Math.min(firstMs.get(kind) ?? Number.POSITIVE_INFINITY, to.fixTimeMs - START_MS));
      }
    });
    expect([...firstMs.keys()].toSorted()).toEqual(['acceleration', 'braking', 'cornering', 'over-revving']);
    for (const [kind, ms] of firstMs) expect(ms, kind).toBeLessThan(120_000);
    expect(exceeded).toBeLessThan(fixes / 50);
  });

  test('makes every kind of event within the first minute, and in every five minutes after', () => {
    const counts = happenings(30);
    for (const kind of ['entry', 'exit', 'speeding', 'speeding in a zone'] as const) {
      const byMinute = counts.get(kind) ?? [];
      expect(byMinute[0], `${kind} in the first minute`).toBeGreaterThan(0);
      for (let minute = 0; minute < 30; minute += 5)
        expect(Math.max(...byMinute.slice(minute, minute + 5)), `${kind} from minute ${minute}`).toBeGreaterThan(0);
    }
  });
});
