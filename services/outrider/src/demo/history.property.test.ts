import type { TelemetryPacket, VehicleId } from '@outrider/domain';
import type { Log } from '@outrider/log';
import { createDemoScenario, createDriver, pastPlan, resumeDriver } from '@outrider/simulator';
import { expect, test } from 'vitest';
import { type PastVehicle, writeHistory } from './history.ts';

const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2026, 4, 6, 13);
const scenario = createDemoScenario();

function pasts(fromMs: number): PastVehicle[] {
  return scenario.vehicles.map((vehicle, index) => ({
    vehicle,
    vehicleId: `00000000-0000-4000-8000-0000000000${String(index).padStart(2, '0')}` as VehicleId,
    driver: createDriver(scenario.network, pastPlan(vehicle, NOW_MS - 5_400_000), vehicle.seed, fromMs),
  }));
}

test('the log has the packets of all vehicles in the order of their reception, each fix once and soon after it', async () => {
  const packets: TelemetryPacket[] = [];
  const log = { append: async (_: unknown, records: TelemetryPacket[]) => void packets.push(...records) };
  const shares: number[] = [];
  const range = { fromMs: NOW_MS - 3 * DAY_MS, toMs: NOW_MS };
  const vehicles = pasts(range.fromMs);
  const written = await writeHistory(log as unknown as Pick<Log, 'append'>, vehicles, range, (share) =>
    shares.push(share),
  );

  expect(shares.at(-1)).toBe(1);
  expect(written.positions).toBe(packets.reduce((sum, { positions }) => sum + positions.length, 0));
  expect(written.positions).toBeGreaterThan(10_000);
  for (const [index, { receivedAtMs }] of packets.entries())
    expect(receivedAtMs).toBeGreaterThan((packets[index - 1]?.receivedAtMs ?? 0) - 2000);
  const byVehicle = Map.groupBy(packets, ({ vehicleId }) => vehicleId);
  for (const { vehicle, vehicleId } of vehicles) {
    const own = byVehicle.get(vehicleId) ?? [];
    const fixes = own.flatMap(({ positions }) => positions.map(({ fixTimeMs }) => fixTimeMs));
    expect(fixes).toEqual([...new Set(fixes)].toSorted((a, b) => a - b));
    expect(written.lastFixMs.get(vehicleId)).toBe(fixes.at(-1));
    const { silentForDays } = vehicle;
    if (silentForDays === null) {
      // Nobody is offline: the longest pause is that of a parked vehicle.
      const pauses = fixes.slice(1).map((fixMs, index) => fixMs - (fixes[index] as number));
      expect(Math.max(...pauses)).toBeLessThan(600_000);
      expect(NOW_MS - (fixes.at(-1) ?? 0)).toBeLessThan(600_000);
    } else if (Number.isFinite(silentForDays)) {
      expect(Math.max(...fixes)).toBeLessThan(NOW_MS - silentForDays * DAY_MS);
    } else {
      expect(fixes).toEqual([]);
    }
    for (const { positions, receivedAtMs, terminalId } of own) {
      expect(terminalId).toBe(vehicle.profile.terminalId);
      expect(receivedAtMs).toBeGreaterThan(positions.at(-1)?.fixTimeMs ?? Infinity);
    }
  }
});

test('most of the fleet is on the road when the history ends, whatever the hour', () => {
  for (const hour of [2, 9, 15, 22]) {
    const nowMs = Date.UTC(2026, 4, 10, hour);
    const moved = scenario.vehicles.filter((vehicle) => {
      const plan = pastPlan(vehicle, nowMs - 5_400_000);
      const past = createDriver(scenario.network, plan, vehicle.seed, nowMs - DAY_MS);
      past.advanceTo(nowMs);
      const positions = resumeDriver(scenario.network, vehicle.plan, past.state()).advanceTo(nowMs + 60_000);
      return positions.some(({ speedKmh }) => (speedKmh ?? 0) > 5);
    });
    expect(moved.length, `at ${hour}:00`).toBeGreaterThan(12);
  }
});
