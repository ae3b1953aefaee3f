import {
  blankPosition,
  deriveEventId,
  type FleetEvent,
  type GeofenceId,
  type TerminalId,
  type Trip,
  type VehicleId,
} from '@outrider/domain';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FleetCursor } from './reports/overlapping-events.ts';
import type { PositionsCursor } from './reports/positions.ts';
import type { Warehouse } from './warehouse.ts';

const START_MS = Date.UTC(2026, 3, 4, 22);
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const MIDNIGHT_MS = START_MS + 2 * HOUR_MS;
const GEOFENCE = '00000000-0000-4000-8000-00000000000f' as GeofenceId;

/** What reports ask a warehouse, whatever ClickHouse it stands on. */
export function reportsConformance(name: string, open: () => Promise<Warehouse>): void {
  describe(`reports of a warehouse on ${name}`, () => {
    let warehouse: Warehouse;
    const session = Math.floor(Math.random() * 2 ** 47)
      .toString(16)
      .padStart(12, '0');
    const vehicle = (number: number) =>
      `${number.toString(16).padStart(8, '0')}-1000-4000-8000-${session}` as VehicleId;
    const [one, two, other] = [vehicle(1), vehicle(2), vehicle(3)] as [VehicleId, VehicleId, VehicleId];
    /** Of each: a trip over midnight, one that still lasts, and a visit; the second drives on an odometer. */
    const driven = (vehicleId: VehicleId): FleetEvent[] => {
      const base = (kind: string, startedAtMs: number) => ({
        id: deriveEventId(kind, vehicleId, '', startedAtMs),
        vehicleId,
        startedAtMs,
        latitude: 52,
        longitude: 13,
        speedKmh: 10,
        fromFixTimeMs: startedAtMs,
        fixTimeMs: startedAtMs + HOUR_MS,
        definitionVersion: 1,
        origin: 'live' as const,
        inferred: false,
      });
      const trip = (startedAtMs: number, endedAtMs: number | null): Trip => ({
        ...base('trip', startedAtMs),
        kind: 'trip',
        phase: endedAtMs === null ? 'begin' : 'end',
        endedAtMs,
        startLatitude: 52,
        startLongitude: 13,
        distanceM: endedAtMs === null ? 0 : 4000,
        movingMs: endedAtMs === null ? 0 : 2 * HOUR_MS,
        idlingMs: 0,
        maxKmh: 60,
        meanKmh: 2,
        endReason: endedAtMs === null ? null : 'stopped',
      });
      return [
        trip(MIDNIGHT_MS - HOUR_MS, MIDNIGHT_MS + HOUR_MS),
        trip(MIDNIGHT_MS + 3 * HOUR_MS, null),
        {
          ...base('geofence-visit', START_MS),
          kind: 'geofence-visit',
          phase: 'end',
          endedAtMs: START_MS + 10 * MINUTE_MS,
          geofenceId: GEOFENCE,
          endReason: 'left',
        },
      ];
    };
    const EVER = { fromMs: START_MS, toMs: START_MS + 48 * HOUR_MS };

    beforeAll(async () => {
      warehouse = await open();
      for (const [nth, vehicleId] of [one, two, other].entries()) {
        const positions = Array.from({ length: 360 }, (_, minute) => {
          const atMs = MIDNIGHT_MS - HOUR_MS + minute * MINUTE_MS;
          // Up to midnight a third as far as after it.
          const steps = minute <= 60 ? minute : 60 + 3 * (minute - 60);
          const position = blankPosition(atMs, 52 + (nth === 1 ? 0 : steps * 1e-4), 13);
          position.speedKmh = minute < 60 ? 20 : 60;
          if (nth === 1) position.odometerM = 1000 + steps * 10;
          return position;
        });
        const value = {
          vehicleId,
          terminalId: '1' as TerminalId,
          protocol: 'osmand' as const,
          receivedAtMs: START_MS + 24 * HOUR_MS,
          positions,
        };
        await warehouse.insertPositions([{ offset: nth, value }]);
      }
      await warehouse.insertEvents([one, two, other].flatMap(driven).map((value, offset) => ({ offset, value })));
    });
    afterAll(() => warehouse?.close());

    test('events of some vehicles, page by page, and of no other', async () => {
      const ids: string[] = [];
      let after: FleetCursor | null = null;
      do {
        const page = await warehouse.overlappingEvents({
          vehicleIds: [one, two],
          kinds: ['trip', 'geofence-visit'],
          ...EVER,
          limit: 2,
          after,
        });
        ids.push(...page.events.map(({ id }) => id));
        after = page.next;
      } while (after);
      const byTime = (a: FleetEvent, b: FleetEvent) => a.startedAtMs - b.startedAtMs;
      const wanted = [one, two].map((vehicleId) =>
        driven(vehicleId)
          .toSorted(byTime)
          .map(({ id }) => id),
      );
      expect([ids.slice(0, 3), ids.slice(3)].toSorted()).toEqual(wanted.toSorted());
      const visits = await warehouse.overlappingEvents({
        vehicleIds: [one],
        kinds: ['geofence-visit'],
        ...EVER,
        limit: 9,
      });
      expect(visits.events).toHaveLength(1);
      expect((await warehouse.overlappingEvents({ vehicleIds: [], kinds: null, ...EVER, limit: 9 })).events).toEqual(
        [],
      );
    });

    test('what lasts, or began long before, is found by where it reaches', async () => {
      const within = (fromMs: number, toMs: number) =>
        warehouse
          .overlappingEvents({ vehicleIds: [one], kinds: ['trip'], fromMs, toMs, limit: 9 })
          .then(({ events }) => events.map(({ startedAtMs }) => startedAtMs - MIDNIGHT_MS));
      expect(await within(MIDNIGHT_MS, MIDNIGHT_MS + 1)).toEqual([-HOUR_MS]);
      expect(await within(MIDNIGHT_MS + HOUR_MS, MIDNIGHT_MS + 2 * HOUR_MS)).toEqual([]);
      expect(await within(MIDNIGHT_MS + 300 * 24 * HOUR_MS, MIDNIGHT_MS + 301 * 24 * HOUR_MS)).toEqual([3 * HOUR_MS]);
      const open = await warehouse.openEvents({ vehicleIds: [one, two] });
      expect(open.map(({ vehicleId, kind }) => [vehicleId, kind]).toSorted()).toEqual([
        [one, 'trip'],
        [two, 'trip'],
      ]);
    });

    test('a trip over midnight is shared as its positions show, by either measure; one that lasts is measured', async () => {
      const cuts = [START_MS, MIDNIGHT_MS, START_MS + 48 * HOUR_MS];
      const nowMs = MIDNIGHT_MS + 5 * HOUR_MS;
      const { tallies, crossing } = await warehouse.tallies({
        vehicleIds: [one, two],
        kinds: ['trip', 'geofence-visit'],
        ...EVER,
        cuts,
        geofenceIds: [GEOFENCE],
        nowMs,
      });
      expect(crossing).toHaveLength(4);
      const ofOne = tallies.filter(({ vehicleId }) => vehicleId === one);
      expect(ofOne.map(({ kind, place, count, durationMs }) => [kind, place, count, durationMs]).toSorted()).toEqual([
        ['geofence-visit', 0, 1, 10 * MINUTE_MS],
        ['trip', 0, 1, HOUR_MS],
        ['trip', 1, 1, HOUR_MS + 2 * HOUR_MS],
      ]);
      const parts = await warehouse.tripParts({ trips: crossing, cuts });
      for (const vehicleId of [one, two]) {
        const own = parts.filter((part) => part.vehicleId === vehicleId).toSorted((a, b) => a.distanceM - b.distanceM);
        const step = vehicleId === two ? 10 : 11.1195;
        // 60 steps before midnight, 180 after it; then 119 minutes of three each.
        expect(own.map(({ interval }) => interval).toSorted()).toEqual([0, 1, 1]);
        expect(own[0]?.distanceM).toBeCloseTo(1000, 0);
        expect(own[1]?.distanceM).toBeCloseTo(3000, 0);
        expect(own[2]?.distanceM).toBeCloseTo(119 * 3 * step, -1);
        expect(own[0]?.peakKmh).toBe(60);
      }
    });

    test('what lasts is counted as far as it is known, silence up to now', async () => {
      const silent = vehicle(6);
      const [, trip] = driven(silent) as [Trip, Trip, FleetEvent];
      const startedAtMs = trip.startedAtMs + HOUR_MS;
      const id = deriveEventId('offline', silent, '', startedAtMs);
      const silence: FleetEvent = {
        ...trip,
        id,
        kind: 'offline',
        startedAtMs,
        phase: 'begin',
        endedAtMs: null,
        endReason: null,
      };
      await warehouse.insertEvents([trip, silence].map((value, nth) => ({ offset: 600 + nth, value })));
      const asked = { vehicleIds: [one, silent], kinds: ['trip', 'offline'] as const, cuts: [EVER.fromMs, EVER.toMs] };
      const { tallies, crossing } = await warehouse.tallies({
        ...asked,
        ...EVER,
        geofenceIds: null,
        nowMs: trip.startedAtMs + 10 * HOUR_MS,
        knownUntilMs: new Map([[silent, trip.startedAtMs + 20 * MINUTE_MS]]),
      });
      const own = tallies.filter(({ vehicleId }) => vehicleId === silent);
      expect(own.map(({ kind, durationMs }) => [kind, durationMs])).toEqual([
        ['offline', 9 * HOUR_MS],
        ['trip', 20 * MINUTE_MS],
      ]);
      expect(crossing.filter(({ vehicleId }) => vehicleId === silent)).toMatchObject([
        { lasts: true, untilMs: trip.startedAtMs + 20 * MINUTE_MS },
      ]);
    });

    test('a trip with one fix yet is where that fix is', async () => {
      const startedAtMs = MIDNIGHT_MS + HOUR_MS;
      const trip = { vehicleId: vehicle(7), startedAtMs, untilMs: startedAtMs, lasts: false };
      const totals = { distanceM: 400, movingMs: 0, idlingMs: 0, peakKmh: 30 };
      const cuts = [START_MS, startedAtMs, startedAtMs + HOUR_MS];
      const parts = await warehouse.tripParts({ trips: [{ ...trip, ...totals }], cuts });
      expect(parts.map(({ interval, distanceM }) => [interval, distanceM])).toEqual([[1, 400]]);
    });

    test('a jump, of a place or of an odometer, skews no share of a trip', async () => {
      const [spiked, plain] = [vehicle(4), vehicle(5)];
      const steps = Array.from({ length: 120 }, (_, minute) => {
        const position = blankPosition(MIDNIGHT_MS - HOUR_MS + minute * MINUTE_MS, 52 + minute * 1e-3, 13);
        return { ...position, speedKmh: 60 };
      });
      // One that nobody gets to and away from; two that agree; an odometer that says what cannot be.
      const [lone, agreeing, odd] = [new Set([10]), new Set([90, 91]), new Set([100, 101])];
      const wrong = steps.map((position, minute) => ({
        ...position,
        ...(lone.has(minute) && { latitude: 10, speedKmh: 250 }),
        ...(agreeing.has(minute) && { latitude: 20 }),
        ...(odd.has(minute) && { odometerM: minute === 100 ? 0 : 4_000_000_000 }),
      }));
      for (const [nth, [vehicleId, positions]] of (
        [
          [spiked, wrong],
          [plain, steps],
        ] as const
      ).entries())
        await warehouse.insertPositions([
          {
            offset: 10 + nth,
            value: {
              vehicleId,
              terminalId: '1' as TerminalId,
              protocol: 'osmand',
              receivedAtMs: START_MS + 24 * HOUR_MS,
              positions: [...positions],
            },
          },
        ]);
      const cuts = [START_MS, MIDNIGHT_MS, START_MS + 48 * HOUR_MS];
      const totals = { distanceM: 13_000, movingMs: 119 * MINUTE_MS, idlingMs: 0, peakKmh: 60 };
      const trips = [spiked, plain].map((vehicleId) => ({
        vehicleId,
        startedAtMs: MIDNIGHT_MS - HOUR_MS,
        untilMs: MIDNIGHT_MS + 59 * MINUTE_MS,
        ...totals,
      }));
      const partsOf = async (lasts: boolean) => {
        const asked = { trips: trips.map((trip) => ({ ...trip, lasts })), cuts };
        const parts = await warehouse.tripParts(asked);
        return [spiked, plain].map((id) => parts.filter(({ vehicleId }) => vehicleId === id));
      };
      for (const lasts of [false, true]) {
        const [got = [], wanted = []] = await partsOf(lasts);
        expect(wanted).toHaveLength(2);
        for (const [nth, part] of wanted.entries()) {
          expect(Math.abs((got[nth]?.distanceM ?? 0) / part.distanceM - 1)).toBeLessThan(0.06);
          expect(Math.abs((got[nth]?.movingMs ?? 0) / part.movingMs - 1)).toBeLessThan(0.06);
          expect(got[nth]?.peakKmh).toBe(60);
        }
        // A lone one leaves nothing out but itself.
        if (lasts) expect(got[0]?.distanceM).toBeCloseTo(wanted[0]?.distanceM ?? 0, 3);
      }
    });

    test('geofences that nobody may see are not counted', async () => {
      const asked = { vehicleIds: [one], kinds: ['geofence-visit'] as const, ...EVER, cuts: [EVER.fromMs, EVER.toMs] };
      const counts = async (geofenceIds: GeofenceId[] | null) =>
        (await warehouse.tallies({ ...asked, geofenceIds, nowMs: EVER.toMs })).tallies.map(({ count }) => count);
      expect(await counts(null)).toEqual([1]);
      expect(await counts([GEOFENCE])).toEqual([1]);
      expect(await counts(['00000000-0000-4000-8000-00000000000e' as GeofenceId])).toEqual([]);
      expect(await counts([])).toEqual([]);
    });

    test('fuel counts where trips, refuellings and drains began', async () => {
      const truck = vehicle(40);
      const [over] = driven(truck) as [Trip, ...FleetEvent[]];
      const { distanceM: _, movingMs: __, idlingMs: ___, maxKmh: ____, meanKmh: _____, ...facts } = over;
      const volume = (kind: 'refuelling' | 'fuel-drain', startedAtMs: number, volumeL: number): FleetEvent => ({
        ...facts,
        kind,
        id: deriveEventId(kind, truck, '', startedAtMs),
        startedAtMs,
        endedAtMs: startedAtMs + MINUTE_MS,
        volumeL,
        levelBeforeL: 100,
        levelAfterL: 200,
        whileMoving: false,
        endReason: 'settled',
      });
      const happened = [
        { ...over, fuelStartL: 200, fuelEndL: 150.5, fuelUsedL: 49.5 },
        volume('refuelling', MIDNIGHT_MS + 2 * HOUR_MS, 210.25),
        volume('fuel-drain', MIDNIGHT_MS + 4 * HOUR_MS, 30),
        volume('fuel-drain', MIDNIGHT_MS + 5 * HOUR_MS, 12.5),
      ];
      await warehouse.insertEvents(happened.map((value, nth) => ({ offset: 900 + nth, value })));
      const { tallies } = await warehouse.tallies({
        vehicleIds: [truck],
        kinds: ['trip', 'idling', 'refuelling', 'fuel-drain'],
        withFuel: true,
        ...EVER,
        cuts: [EVER.fromMs, MIDNIGHT_MS, EVER.toMs],
        geofenceIds: null,
        nowMs: EVER.toMs,
      });
      const fuel = tallies.map(({ kind, place, fuelUsedL, fuelDistanceM, fuelEngineMs, volumeL }) => [
        ...[kind, place, fuelUsedL, fuelDistanceM, fuelEngineMs, volumeL],
      ]);
      expect(fuel).toEqual([
        ['trip', 0, 49.5, 4000, 2 * HOUR_MS, 0],
        ['fuel-drain', 1, 0, 0, 0, 42.5],
        ['refuelling', 1, 0, 0, 0, 210.25],
        ['trip', 1, 0, 0, 0, 0],
      ]);
    });

    test('hours of all days come together by their place', async () => {
      const cuts = Array.from({ length: 49 }, (_, hour) => START_MS + hour * HOUR_MS);
      const places = cuts.slice(1).map((_, nth) => (22 + nth) % 24);
      const { tallies } = await warehouse.tallies({
        vehicleIds: [one],
        kinds: ['trip'],
        ...EVER,
        cuts,
        places,
        geofenceIds: null,
        nowMs: MIDNIGHT_MS + 5 * HOUR_MS + 30 * MINUTE_MS,
      });
      expect(tallies.map(({ place, durationMs }) => [place, durationMs / MINUTE_MS])).toEqual([
        [0, 60],
        [3, 60],
        [4, 60],
        [5, 30],
        [23, 60],
      ]);
    });

    test('positions of some vehicles, page by page, and of no other; and who was in a box', async () => {
      const seen = new Map<VehicleId, number>();
      let after: PositionsCursor | null = null;
      do {
        const page = await warehouse.positions({ vehicleIds: [one, two], ...EVER, limit: 100, after });
        for (const { vehicleId } of page.positions) seen.set(vehicleId, (seen.get(vehicleId) ?? 0) + 1);
        after = page.next;
      } while (after);
      expect([...seen].toSorted()).toEqual([
        [one, 360],
        [two, 360],
      ]);
      const box = { west: 12.9, south: 52.001, east: 13.1, north: 53 };
      expect(await warehouse.vehiclesWithin({ vehicleIds: [one, two], ...EVER, box })).toEqual([one]);
      expect(
        await warehouse.vehiclesWithin({ vehicleIds: [one], ...EVER, box: { ...box, west: 14, east: 15 } }),
      ).toEqual([]);
    });

    test('rows become a file', async () => {
      async function* lines() {
        yield '["a",1.5]\n["b",null]\n';
      }
      for (const [format, magic] of [
        ['Parquet', 'PAR1'],
        ['Arrow', 'ARROW1'],
      ] as const) {
        const columns = [
          { name: 'name', type: 'String' },
          { name: 'metres', type: 'Nullable(Float64)' },
        ];
        const chunks: Uint8Array[] = [];
        for await (const chunk of warehouse.file({ format, columns, lines: lines() })) chunks.push(chunk);
        const bytes = Buffer.concat(chunks);
        expect(bytes.subarray(0, magic.length).toString()).toBe(magic);
        expect(bytes.subarray(-magic.length).toString()).toBe(magic);
      }
    });

    test('what was corrected counts as it stands, and what never happened does not', async () => {
      const [trip, open, visit] = driven(other) as [Trip, Trip, FleetEvent];
      const shorter = { ...trip, endedAtMs: MIDNIGHT_MS - HOUR_MS + 10 * MINUTE_MS, distanceM: 500 };
      await warehouse.replaceEvents({ number: 1, written: [shorter], removed: [open, visit] });
      const asked = { vehicleIds: [other], ...EVER };
      const { events } = await warehouse.overlappingEvents({ ...asked, kinds: null, limit: 9 });
      expect(events.map(({ id }) => id)).toEqual([trip.id]);
      expect(await warehouse.openEvents({ vehicleIds: [other] })).toEqual([]);
      const { tallies, crossing } = await warehouse.tallies({
        ...asked,
        kinds: ['trip', 'geofence-visit'],
        cuts: [EVER.fromMs, MIDNIGHT_MS, EVER.toMs],
        geofenceIds: null,
        nowMs: EVER.toMs,
      });
      expect(tallies).toMatchObject([{ kind: 'trip', place: 0, count: 1, distanceM: 500 }]);
      expect(crossing).toEqual([]);
    });

    test('a thousand vehicles can be named, and no more; what nobody waits for is not asked', async () => {
      const signal = AbortSignal.abort(new Error('gone'));
      await expect(warehouse.openEvents({ vehicleIds: [one], signal })).rejects.toThrow('gone');
      const many = Array.from({ length: 1000 }, (_, nth) => vehicle(nth + 1));
      expect((await warehouse.openEvents({ vehicleIds: many })).length).toBeGreaterThan(1);
      const tooMany = Array.from({ length: 1001 }, (_, nth) => vehicle(nth));
      await expect(warehouse.openEvents({ vehicleIds: tooMany })).rejects.toThrow(RangeError);
    });
  });
}
