import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { blankPosition, type FleetEvent, type Position, type Trip } from '@outrider/domain';
import { openWarehouse } from '@outrider/warehouse';
import { expect, test } from 'vitest';
import { NO_MAINTENANCE } from './empty-archive.fixture.ts';
import { archive, geofenceOf, metresBetween, OPERATOR, vehicleIdOf, vehicleOf } from './fleet.fixture.ts';
import { tripsReport } from './kinds/event-lists.ts';
import { shapeVisitsReport } from './kinds/shape-visits.ts';
import { visitsReport } from './kinds/visits.ts';
import { allRows, type Question, type ReportKind, type ReportSources } from './report.ts';
import { mileageReport, summaryReport, utilisationReport } from './totals.ts';
import { trackReport } from './tracks.ts';

const RECORDED = join(import.meta.dirname, '../../../../../shared/data/geolife-001.csv.gz');
const FIXES = 40_000;
const ZONE = 'Asia/Shanghai';

function recordedTrack(): Position[] {
  const [, ...lines] = gunzipSync(readFileSync(RECORDED)).toString().trim().split('\n');
  const byTime = new Map<number, Position>();
  for (const line of lines.slice(0, FIXES)) {
    const [latitude, longitude, time] = line.split(',');
    const position = blankPosition(Date.parse(`${time?.replace(' ', 'T')}Z`), Number(latitude), Number(longitude));
    if (!byTime.has(position.fixTimeMs)) byTime.set(position.fixTimeMs, position);
  }
  return [...byTime.values()].toSorted((a, b) => a.fixTimeMs - b.fixTimeMs);
}

test.runIf(existsSync(RECORDED))(
  'reports of a recorded walk through the city agree with its positions and with each other',
  { timeout: 180_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'outrider-recorded-'));
    const warehouse = await openWarehouse({ path: folder });
    try {
      const positions = recordedTrack();
      const vehicle = vehicleOf(vehicleIdOf(1));
      const zones = [0.2, 0.5, 0.7].map((share, nth) => {
        const { longitude, latitude } = positions[Math.floor(share * positions.length)] as Position;
        return geofenceOf(nth, { shape: { type: 'circle', center: [longitude, latitude], radiusM: 400 } });
      });
      const published = await archive(warehouse, [{ vehicleId: vehicle.id, positions }], [OPERATOR, vehicle, ...zones]);
      const first = positions[0]?.fixTimeMs ?? 0;
      const last = positions.at(-1)?.fixTimeMs ?? 0;
      const question: Question = {
        vehicles: [vehicle],
        fromMs: first,
        toMs: last + 1,
        timeZone: ZONE,
        period: 'day',
        eventKinds: null,
        geofenceId: null,
        maxPoints: null,
        workHours: null,
        ecoWeights: null,
        sensors: null,
        driverIds: null,
        nowMs: last,
        signal: new AbortController().signal,
      };
      const sources: ReportSources = {
        archive: warehouse,
        geofenceName: (id) => zones.find((zone) => zone.id === id)?.name ?? null,
        seesGone: () => false,
        driversAt: async (moments) => moments.map(() => null),
        maintenance: NO_MAINTENANCE,
        placesOf: async (points) => points.map(() => null),
        visibleGeofences: async () => null,
        readDeleted: async () => {},
        latest: async () => [],
        connections: async () => new Map(),
      };
      // biome-ignore lint/suspicious/noExplicitAny: rows are looked into by the names of their columns.
      const report = async (kind: ReportKind, more: Partial<Question> = {}): Promise<Record<string, any>[]> => {
        const items = [];
        for await (const rows of allRows(kind, sources, { ...question, ...more }, 1_000_000))
          for (const row of rows) items.push(Object.fromEntries(kind.columns.map(({ name }, nth) => [name, row[nth]])));
        return items;
      };
      const sum = (numbers: number[]) => numbers.reduce((total, each) => total + each, 0);

      expect((await report(trackReport)).map(({ fixTime }) => fixTime)).toEqual(
        positions.map((each) => each.fixTimeMs),
      );

      const over = published.filter(
        (event: FleetEvent): event is Trip => event.kind === 'trip' && event.phase === 'end',
      );
      const trips = (await report(tripsReport)).filter(({ endedAt }) => endedAt !== null);
      expect(trips.map(({ startedAt, endedAt, distanceM }) => [startedAt, endedAt, distanceM])).toEqual(
        over.map(({ startedAtMs, endedAtMs, distanceM }) => [startedAtMs, endedAtMs, distanceM]),
      );
      expect(trips.length).toBeGreaterThan(10);

      // Up to the end of the last trip, so that nothing is still under way.
      const untilMs = over.at(-1)?.endedAtMs ?? 0;
      const days = await report(mileageReport, { toMs: untilMs });
      expect(sum(days.map(({ distanceM }) => distanceM))).toBeCloseTo(sum(over.map(({ distanceM }) => distanceM)), -1);
      for (const { period, distanceM } of days) {
        const start = Temporal.PlainDate.from(period).toZonedDateTime(ZONE);
        const [fromMs, toMs] = [start.epochMilliseconds, start.add({ days: 1 }).epochMilliseconds];
        // All that was walked that day, in motion or not: at most what the receiver wandered more than the trips have.
        const walked = positions.reduce((metres, position, nth) => {
          const before = positions[nth - 1];
          const isThatDay = before !== undefined && before.fixTimeMs >= fromMs && position.fixTimeMs < toMs;
          return isThatDay ? metres + metresBetween(before, position) : metres;
        }, 0);
        expect(distanceM, period).toBeLessThan(walked * 1.01 + 50);
      }
      const onTrips = sum(over.map(({ startedAtMs, endedAtMs }) => (endedAtMs ?? 0) - startedAtMs)) / 1000;
      const hours = await report(utilisationReport, { toMs: untilMs });
      expect(sum(hours.map(({ tripSeconds }) => tripSeconds))).toBeCloseTo(onTrips, 1);
      const summary = await report(summaryReport, { toMs: untilMs, period: 'whole' });
      expect(summary).toMatchObject([{ trips: over.length }]);
      expect(summary[0]?.movingSeconds).toBeCloseTo(sum(over.map(({ movingMs }) => movingMs)) / 1000, 1);

      let visits = 0;
      for (const zone of zones) {
        const facts = ({ startedAt, endedAt, inferred }: Record<string, unknown>) => [startedAt, endedAt, inferred];
        const saved = (await report(visitsReport, { geofenceId: zone.id })).filter(({ part }) => part === 'inside');
        const asked = (await report(shapeVisitsReport(zone.shape, 0))).filter(({ part }) => part === 'inside');
        expect(asked.map(facts)).toEqual(saved.map(facts));
        visits += asked.length;
      }
      expect(visits).toBeGreaterThan(3);
    } finally {
      await warehouse.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
