import { driverCodeOf } from '@outrider/domain';
import { expect, test } from 'vitest';
import { DEMO_PEOPLE, withKeys } from './cards.ts';
import { createDriver } from './driver.ts';
import { createDemoScenario, type DemoVehicle } from './scenario.ts';

const NOW_MS = new Date(2026, 0, 15, 10).getTime();
const { network, vehicles } = createDemoScenario();
const named = (name: string) => vehicles.find(({ profile }) => profile.name === name) as DemoVehicle;
const codesOf = (name: string, toMs: number, takesOverMs = NOW_MS + 60_000) => {
  const vehicle = named(name);
  const driver = withKeys(createDriver(network, vehicle.plan, vehicle.seed, NOW_MS), vehicle, takesOverMs);
  return new Set(driver.advanceTo(toMs).map(({ attributes }) => attributes?.driverCode ?? null));
};
const holderOf = (code: unknown) => DEMO_PEOPLE.find((person) => person.code === code)?.name ?? null;

test('one driver takes over from another in the first minutes, and one key is nobody’s', () => {
  expect([...codesOf('Van 01', NOW_MS + 120_000)].filter((code) => code !== null).map(holderOf)).toEqual([
    'Anna Berg',
    'Boris Novak',
  ]);
  expect([...codesOf('Shuttle 02', NOW_MS + 120_000)].filter((code) => code !== null).map(holderOf)).toEqual([null]);
  expect([...codesOf('Truck 01', NOW_MS + 60_000)]).toEqual([null]);
});

test('in the past drivers take turns at noon', () => {
  const nextDayMs = NOW_MS + 86_400_000;
  expect([...codesOf('Van 01', NOW_MS + 3_600_000, nextDayMs)].map(holderOf)).not.toContain('Boris Novak');
  const afternoon = named('Van 01');
  const startMs = NOW_MS + 3 * 3_600_000;
  const driver = withKeys(createDriver(network, afternoon.plan, 1, startMs), afternoon, nextDayMs);
  const codes = driver.advanceTo(startMs + 600_000).map(({ attributes }) => attributes?.driverCode ?? null);
  expect(new Set(codes.filter((code) => code !== null).map(holderOf))).toEqual(new Set(['Boris Novak']));
});

test('keys are codes as they are kept, each of one person, and terminals can send them', () => {
  const codes = DEMO_PEOPLE.flatMap(({ code }) => (code === null ? [] : [code]));
  expect(codes.map(driverCodeOf)).toEqual(codes);
  expect(new Set(codes).size).toBe(codes.length);
  const vehicle = named('Van 01');
  const driver = withKeys(createDriver(network, vehicle.plan, vehicle.seed, NOW_MS), vehicle, NOW_MS);
  // Terminals send a number of eight bytes, which the simulator takes as so many digits.
  expect(driver.advanceTo(NOW_MS + 60_000).at(-1)?.attributes?.io78).toMatch(/^\d{16,20}$/);
});
