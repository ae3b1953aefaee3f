import type { Position } from '@outrider/domain';
import { expect, test } from 'vitest';
import { createDriver, resumeDriver } from './driver.ts';
import { createDemoDrivers, createDemoScenario } from './scenario.ts';

const START_MS = Date.UTC(2026, 4, 4, 6);
const scenario = createDemoScenario();
const cold = scenario.vehicles.flatMap(({ plan }, nth) => (plan.cargo ? [nth] : []));
const celsius = ({ attributes }: Position) => Number(attributes?.temperature1C);

test('of the refrigerated vans one is too warm within two minutes, all are at times, and none thaws', () => {
  const drives = createDemoDrivers(scenario, START_MS).map((driver) => driver.advanceTo(START_MS + 60 * 60_000));
  expect(cold).toHaveLength(3);
  const warmSince = cold.map((nth) => {
    const warm = (drives[nth] ?? []).filter((position) => celsius(position) > -15);
    return (
      (warm.find(({ fixTimeMs }, at) => at >= 20 && fixTimeMs - (warm[at - 10]?.fixTimeMs ?? 0) <= 20_000)?.fixTimeMs ??
        Infinity) - START_MS
    );
  });
  expect(Math.min(...warmSince)).toBeLessThan(120_000);
  for (const [place, nth] of cold.entries()) {
    expect(warmSince[place], `van ${nth}`).toBeLessThan(60 * 60_000);
    const all = (drives[nth] ?? []).map(celsius);
    expect(Math.max(...all)).toBeLessThan(-5);
    expect(Math.min(...all)).toBeGreaterThan(-20);
    for (const name of ['input1', 'input2'])
      expect(new Set(drives[nth]?.map(({ attributes }) => attributes?.[name]))).toEqual(new Set([0, 1]));
  }
  expect(
    drives.filter((positions) => positions.some(({ attributes }) => attributes?.temperature1C !== undefined)),
  ).toHaveLength(3);
});

test('a drive that was interrupted goes on with its cargo as it was', () => {
  const van = scenario.vehicles[cold[0] ?? 0] as (typeof scenario.vehicles)[number];
  const { plan } = van;
  const untilMs = START_MS + 20 * 60_000;
  const whole = createDriver(scenario.network, plan, van.seed, START_MS).advanceTo(untilMs);
  const first = createDriver(scenario.network, plan, van.seed, START_MS);
  const begun = first.advanceTo(START_MS + 7 * 60_000);
  const rest = resumeDriver(scenario.network, plan, JSON.parse(JSON.stringify(first.state()))).advanceTo(untilMs);
  expect([...begun, ...rest].map(celsius)).toEqual(whole.map(celsius));
});
