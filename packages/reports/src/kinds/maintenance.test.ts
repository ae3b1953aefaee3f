import type { MaintenancePlanId, ServiceRecord, ServiceRecordId, VehicleId } from '@outrider/domain';
import { expect, test } from 'vitest';
import { EMPTY_ARCHIVE } from '../empty-archive.fixture.ts';
import { allRows, type Question, type ReportSources } from '../report.ts';
import { maintenanceReport, type PlannedService } from './maintenance.ts';

const T0 = Date.UTC(2026, 2, 1);
const idOf = (n: number) => `0190a000-0000-7000-8000-00000000000${n}`;
const PLAN = '0190a000-0000-7000-8000-0000000000aa' as MaintenancePlanId;

const vehicles = [1, 2, 3].map((n) => ({ id: idOf(n) as VehicleId, name: `Van ${n}`, terminalId: null }));
const planned = (vehicleId: VehicleId): PlannedService => ({
  planId: PLAN,
  planName: 'Oil',
  vehicleId,
  stage: 'warning',
  cause: 'distance',
  left: { distanceM: 640_000, engineMs: 1_800_000, days: null, counter: 12.34 },
  counterUnit: 'h',
  share: 0.04,
  sinceMs: T0,
  dueAtMs: null,
});
const done = (n: number, cost: ServiceRecord['cost']): ServiceRecord => ({
  id: `0190b000-0000-7000-8000-00000000000${n}` as ServiceRecordId,
  vehicleId: vehicles[n % 3]?.id as VehicleId,
  planId: null,
  title: 'Brakes',
  atMs: T0 + n,
  odometerM: 120_000_000,
  engineMs: null,
  cost,
  note: 'Worn',
  createdBy: null,
  createdAtMs: T0,
  files: [],
});
const services = [
  done(0, { amountMinor: 10_050, currency: 'EUR' }),
  done(1, { amountMinor: 500, currency: 'USD' }),
  done(2, { amountMinor: 7000, currency: 'EUR' }),
  done(3, null),
];
const sources = {
  archive: EMPTY_ARCHIVE,
  maintenance: {
    planned: async (ids: readonly VehicleId[]) => ids.slice(0, 1).map(planned),
    done: async (ids: readonly VehicleId[]) => services.filter(({ vehicleId }) => ids.includes(vehicleId)),
    currency: async () => 'EUR',
  },
} as unknown as ReportSources;
const question = { vehicles, fromMs: T0, toMs: T0 + 1000, signal: new AbortController().signal } as unknown as Question;
const column = (name: string) => maintenanceReport.columns.findIndex((each) => each.name === name);

test('plans as they stand and services that were done; what was paid in another currency is in no total', async () => {
  const rows = (await Array.fromAsync(allRows(maintenanceReport, sources, question, 100))).flat();
  const brief = rows.map((row) =>
    [
      'vehicleName',
      'kind',
      'title',
      'stage',
      'leftM',
      'leftCounter',
      'counterUnit',
      'cost',
      'currency',
      'otherCost',
    ].map((name) => row[column(name)]),
  );
  expect(brief).toEqual([
    ['Van 1', 'planned', 'Oil', 'warning', 640_000, 12.3, 'h', null, null, null],
    ['Van 1', 'done', 'Brakes', null, null, null, null, 100.5, 'EUR', null],
    ['Van 1', 'done', 'Brakes', null, null, null, null, null, null, null],
    ['Van 2', 'done', 'Brakes', null, null, null, null, null, null, '5 USD'],
    ['Van 3', 'done', 'Brakes', null, null, null, null, 70, 'EUR', null],
  ]);
  expect(rows.every((row) => row.length === maintenanceReport.columns.length)).toBe(true);
});

test('page by page it is the same', async () => {
  const whole = (await Array.fromAsync(allRows(maintenanceReport, sources, question, 100))).flat();
  for (const limit of [1, 2, 3]) {
    const rows = [];
    for (let after: unknown = null, first = true; first || after !== null; first = false) {
      const page = await maintenanceReport.page(sources, question, after, limit);
      expect(page.rows.length).toBeLessThanOrEqual(limit);
      rows.push(...page.rows);
      after = page.next === null ? null : maintenanceReport.cursor.parse(page.next);
    }
    expect(rows).toEqual(whole);
  }
});
