import { type Position, VEHICLE_DEFAULTS, VEHICLE_FIELD_LIST } from '@outrider/domain';
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
  test('has 25 vehicles, each with texts of its own, and all four protocols among them', () => {
    const { vehicles } = scenario;
    expect(vehicles).toHaveLength(25);
    for (const [name, { type }] of VEHICLE_FIELD_LIST)
      if (type === 'text') expect(new Set(vehicles.map(({ profile }) => profile[name])).size).toBe(25);
    expect(new Set(vehicles.map((vehicle) => vehicle.protocol))).toEqual(
      new Set(['teltonika', 'omnicomm', 'wialon-ips', 'osmand']),
    );
    for (const { group } of vehicles) expect(scenario.groups).toContain(group);
  });

  test('has a depot, customer sites, a toll road, and a zone with a limit of its own', () => {
    const types = scenario.geofences.map(({ shape }) => shape.type);
    expect(types.filter((type) => type === 'circle')).toHaveLength(8);
    expect(types).toContain('polygon');
    expect(types).toContain('line');
    expect(scenario.geofences.filter(({ speedLimitKmh }) => speedLimitKmh === 40)).toHaveLength(1);
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
