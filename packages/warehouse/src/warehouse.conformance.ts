import {
  type Alarm,
  type AttributeValue,
  blankPosition,
  deriveEventId,
  EVENT_KINDS,
  type EventKind,
  type FleetEvent,
  type GeofenceId,
  type GeofenceVisit,
  type MaintenancePlanId,
  NO_ALARMS,
  type PackedPacket,
  type Position,
  rejectionOf,
  type SensorId,
  type TelemetryPacket,
  type TerminalId,
  type VehicleId,
} from '@outrider/domain';
import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Recorded, UnfitRecordError } from './recorded.ts';
import { MAX_RECENT_VEHICLES } from './reports/recent-events.ts';
import type { ArchivedPosition, TrackCursor } from './reports/track.ts';
import { seededRandom } from './sample.ts';
import type { Warehouse } from './warehouse.ts';

const RECEIVED_MS = Date.UTC(2026, 3, 5, 12);
const EVER = { fromMs: Number.NEGATIVE_INFINITY, toMs: Number.POSITIVE_INFINITY };

/** What every warehouse promises, whatever ClickHouse it stands on. */
export function warehouseConformance(name: string, open: () => Promise<Warehouse>): void {
  describe(`a warehouse on ${name}`, () => {
    let warehouse: Warehouse;
    let vehicles = 0;
    // Each test has vehicles of its own, so that a server that is used again and again serves too.
    const session = Math.floor(Math.random() * 2 ** 47);
    const nextVehicleId = () =>
      `${(++vehicles).toString(16).padStart(8, '0')}-0000-4000-8000-${session.toString(16).padStart(12, '0')}` as VehicleId;

    const packet = (
      vehicleId: VehicleId,
      positions: Position[],
      more: Partial<TelemetryPacket> = {},
    ): TelemetryPacket => ({
      vehicleId,
      terminalId: '356307042441013' as TerminalId,
      protocol: 'teltonika',
      receivedAtMs: RECEIVED_MS,
      positions,
      ...more,
    });
    const wholeTrack = async (vehicleId: VehicleId) => {
      const { positions, next } = await warehouse.track({ vehicleId, ...EVER, limit: 10_000, withRejected: true });
      expect(next).toBeNull();
      return positions;
    };

    beforeAll(async () => {
      warehouse = await open();
    });
    afterAll(() => warehouse?.close());

    test('answers a ping', async () => {
      await warehouse.ping();
    });

    test('every position comes back as it was, to the precision of the log', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(arbitraryPacket, { minLength: 1, maxLength: 8 }), async (drafts) => {
          const vehicleId = nextVehicleId();
          const times = new Set<number>();
          const packets = drafts
            .map((draft, offset) => ({
              offset,
              value: {
                ...draft,
                vehicleId,
                // Which of two at one time stands is another promise's matter.
                positions: draft.positions.filter(
                  ({ fixTimeMs }) => !times.has(kept(fixTimeMs)) && times.add(kept(fixTimeMs)),
                ),
              },
            }))
            .filter(({ value }) => value.positions.length > 0);
          expect(await warehouse.insertPositions(packets)).toBe(times.size);
          const expected = packets.flatMap(({ value }) =>
            value.positions.map((position) => asArchived(position, value)),
          );
          expect(await wholeTrack(vehicleId)).toEqual(expected.sort((a, b) => a.fixTimeMs - b.fixTimeMs));
        }),
        { numRuns: runs(40) },
      );
    });

    test('a replay of any interval in any batches changes nothing, and the first of several at one time stands', async () => {
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 1 }), async (seed) => {
          const random = seededRandom(seed);
          const vehicleId = nextVehicleId();
          const packets: Recorded<TelemetryPacket>[] = Array.from({ length: 30 }, (_, offset) => ({
            offset: offset * 3 + 1,
            value: packet(
              vehicleId,
              Array.from({ length: 1 + Math.floor(random() * 4) }, () => ({
                ...blankPosition(RECEIVED_MS - 60_000 * Math.floor(random() * 60_000), 55, 37),
                altitudeM: Math.floor(random() * 1000),
              })),
            ),
          }));
          const first = new Map<number, number>();
          for (const { value } of packets)
            for (const { fixTimeMs, altitudeM } of value.positions)
              if (!first.has(fixTimeMs) && altitudeM !== null) first.set(fixTimeMs, altitudeM);
          const expected = [...first].sort(([a], [b]) => a - b);

          for (let from = 0; from < packets.length; ) {
            const to = from + 1 + Math.floor(random() * 12);
            await warehouse.insertPositions(packets.slice(from, to));
            // Some of it again, as after a crash before the checkpoint.
            from = random() < 0.4 ? Math.max(0, to - Math.floor(random() * 15)) : to;
          }
          const replayFrom = Math.floor(random() * packets.length);
          await warehouse.insertPositions(packets.slice(replayFrom, replayFrom + 10));
          const archived = await wholeTrack(vehicleId);
          expect(archived.map(({ fixTimeMs, altitudeM }) => [fixTimeMs, altitudeM])).toEqual(expected);
        }),
        { numRuns: 6 },
      );
    });

    test('counts what is archived once', async () => {
      const before = await warehouse.positionCount();
      const vehicleId = nextVehicleId();
      const records = Array.from({ length: 50 }, (_, offset) => ({
        offset,
        value: packet(vehicleId, [blankPosition(RECEIVED_MS - offset * 1000, 50, 10)]),
      }));
      await warehouse.insertPositions(records);
      await warehouse.insertPositions(records.slice(20));
      expect(await warehouse.positionCount()).toBe(before + 50);
      expect(await warehouse.insertPositions([])).toBe(0);
    });

    test('a track is read page by page, and a position that arrives meanwhile shifts nothing', async () => {
      const vehicleId = nextVehicleId();
      const positions = Array.from({ length: 95 }, (_, i) => blankPosition(RECEIVED_MS - 1_000_000 + i * 1000, 50, 10));
      await warehouse.insertPositions([{ offset: 1, value: packet(vehicleId, positions) }]);
      const times: number[] = [];
      let after: TrackCursor | null = null;
      let pages = 0;
      do {
        const page = await warehouse.track({ vehicleId, ...EVER, limit: 10, after });
        times.push(...page.positions.map(({ fixTimeMs }) => fixTimeMs));
        after = page.next;
        pages++;
        const late = blankPosition(RECEIVED_MS - 2_000_000 - pages * 1000, 50, 10);
        await warehouse.insertPositions([{ offset: 1 + pages, value: packet(vehicleId, [late]) }]);
      } while (after);
      expect(pages).toBe(10);
      expect(times).toEqual(positions.map(({ fixTimeMs }) => fixTimeMs));
    });

    test('a time range has its start and not its end', async () => {
      const vehicleId = nextVehicleId();
      const at = (seconds: number) => RECEIVED_MS - 100_000 + seconds * 1000;
      await warehouse.insertPositions([
        {
          offset: 1,
          value: packet(
            vehicleId,
            [0, 1, 2, 3].map((second) => blankPosition(at(second), 50, 10)),
          ),
        },
      ]);
      const { positions } = await warehouse.track({ vehicleId, fromMs: at(1), toMs: at(3), limit: 10 });
      expect(positions.map(({ fixTimeMs }) => fixTimeMs)).toEqual([at(1), at(2)]);
    });

    test('what is rejected is kept beside what is good, and reported only when asked for', async () => {
      const vehicleId = nextVehicleId();
      const time = RECEIVED_MS - 5000;
      await warehouse.insertPositions([
        {
          offset: 1,
          value: packet(vehicleId, [blankPosition(time, 0, 0), blankPosition(Date.UTC(2200, 0, 1), 50, 10)]),
        },
        { offset: 2, value: packet(vehicleId, [blankPosition(time, 50, 10)]) },
      ]);
      const reported = await warehouse.track({ vehicleId, ...EVER, limit: 10 });
      expect(reported.positions.map(({ latitude, rejection }) => [latitude, rejection])).toEqual([[50, null]]);
      const paged: ArchivedPosition[] = [];
      for (let after: TrackCursor | null = null; ; ) {
        const page = await warehouse.track({ vehicleId, ...EVER, limit: 1, after, withRejected: true });
        paged.push(...page.positions);
        after = page.next;
        if (!after) break;
      }
      // Those of one fix time come together, in the order in which they came.
      expect(paged.map(({ rejection }) => rejection)).toEqual(['null-island', null, 'time-in-future']);
    });

    test('two records of one second are one position, with what both say; a repeat changes nothing', async () => {
      const vehicleId = nextVehicleId();
      const time = RECEIVED_MS - 5000;
      const at = (fields: Partial<Position>) => ({ ...blankPosition(time, 50, 10), ...fields });
      const before = await warehouse.positionCount();
      const periodic = at({ ignition: true, fuelL: 40, attributes: { rpm: 900 } });
      const sos = at({ longitude: 10.5, alarms: ['sos'], attributes: { rpm: 950, eventIo: 2 } });
      const off = at({ ignition: false, alarms: ['sos', 'tamper'], valid: false });
      const records = [periodic, sos, { ...periodic, attributes: { rpm: 901 } }, off].map((position, offset) => ({
        offset,
        value: packet(vehicleId, [position]),
      }));
      // In any batches, and again.
      await warehouse.insertPositions(records.slice(2));
      await warehouse.insertPositions(records.slice(0, 2));
      await warehouse.insertPositions(records);
      await warehouse.insertPositions([{ offset: 9, value: packet(vehicleId, [blankPosition(time + 1000, 51, 10)]) }]);
      const merged = {
        latitude: 50,
        longitude: 10,
        valid: true,
        ignition: false,
        fuelL: 40,
        alarms: ['sos', 'tamper'],
        attributes: { rpm: 950, eventIo: 2 },
      };
      const { positions, next } = await warehouse.track({ vehicleId, ...EVER, limit: 1 });
      expect(positions).toMatchObject([merged]);
      const rest = await warehouse.track({ vehicleId, ...EVER, limit: 1, after: next });
      expect(rest.positions).toMatchObject([{ latitude: 51 }]);
      expect(rest.next).toBeNull();
      const fleet = await warehouse.positions({ vehicleIds: [vehicleId], ...EVER, limit: 10 });
      expect(fleet.positions).toMatchObject([merged, { latitude: 51 }]);
      const each = await warehouse.track({ vehicleId, ...EVER, limit: 10, withRejected: true });
      expect(each.positions.map(({ alarms, ignition }) => [alarms, ignition])).toEqual([
        [[], true],
        [['sos'], null],
        [['sos', 'tamper'], false],
        [[], null],
      ]);
      expect(await warehouse.positionCount()).toBe(before + 2);
      const measured = await warehouse.records({ vehicleId, ...EVER, limit: 1 });
      expect(measured.records).toMatchObject([
        { fixTimeMs: time, ignition: true, fuelL: 40, attributes: { rpm: 900 }, rejection: null },
        { attributes: { rpm: 950, eventIo: 2 } },
        { ignition: false, valid: false, attributes: null },
      ]);
      const others = await warehouse.records({ vehicleId, ...EVER, limit: 1, after: measured.next });
      expect(others).toMatchObject({ records: [{ fixTimeMs: time + 1000, supplyV: null }], next: null });
    });

    test('what a slow clock took for the future is good when it has come', async () => {
      const vehicleId = nextVehicleId();
      const value = (receivedAtMs: number) => ({
        ...packet(vehicleId, [blankPosition(RECEIVED_MS, 50, 10)]),
        receivedAtMs,
      });
      const twentyMinutes = 20 * 60_000;
      await warehouse.insertPositions([{ offset: 1, value: value(RECEIVED_MS - twentyMinutes) }]);
      const reported = async () => (await warehouse.track({ vehicleId, ...EVER, limit: 10 })).positions;
      expect(await reported()).toMatchObject([{ fixTimeMs: RECEIVED_MS, rejection: null }]);
      expect(await warehouse.startOfLastFixes({ vehicleId, throughMs: RECEIVED_MS, count: 1 })).toBe(RECEIVED_MS);
      // Sent again when the clock was right, it is one position still.
      const before = await warehouse.positionCount();
      await warehouse.insertPositions([{ offset: 2, value: value(RECEIVED_MS + 1000) }]);
      expect(await reported()).toHaveLength(1);
      expect(await warehouse.positionCount()).toBe(before);
    });

    test('late data of more than a hundred months goes in at once', async () => {
      const vehicleId = nextVehicleId();
      const positions = Array.from({ length: 120 }, (_, month) => blankPosition(Date.UTC(2005, month, 15), 50, 10));
      await warehouse.insertPositions([{ offset: 1, value: packet(vehicleId, positions) }]);
      expect(await wholeTrack(vehicleId)).toHaveLength(120);
    });

    test('what a caller asks for is a value, never a part of the query', async () => {
      const hostile = "' OR 1 = 1 --" as VehicleId;
      await expect(warehouse.track({ vehicleId: hostile, ...EVER, limit: 10 })).rejects.toThrow();
      await expect(warehouse.track({ vehicleId: nextVehicleId(), ...EVER, limit: 0 })).rejects.toThrow(RangeError);
      await expect(warehouse.track({ vehicleId: nextVehicleId(), ...EVER, limit: 10_001 })).rejects.toThrow(RangeError);
    });

    test('rows that were made apart go in as one', async () => {
      const [one, two] = [nextVehicleId(), nextVehicleId()];
      const at = (offset: number, vehicleId: VehicleId, alarms: Position['alarms']): Recorded<PackedPacket> => ({
        offset,
        value: {
          rows: 1,
          readInto(sink) {
            const source = Buffer.from(`${vehicleId}356307042441013`);
            sink.packet(source, 0, 36, 36, source.length, 'teltonika', RECEIVED_MS);
            sink.position(Float64Array.of(RECEIVED_MS - offset * 1000, 50e7, 10e7, 1, 0, 0, 0, 0, 0, 0, 0, 0), 0b1111);
            for (const alarm of alarms) sink.alarm(alarm);
            sink.noAttributes();
          },
        },
      });
      const inserted = await warehouse.insert([
        warehouse.positionRows([]),
        warehouse.positionRows([at(1, one, ['sos']), at(2, two, [])]),
        warehouse.positionRows([at(3, one, [])]),
        warehouse.positionRows([at(4, two, ['power-cut', 'sos']), at(5, one, ['towing'])]),
      ]);
      expect(inserted).toBe(5);
      expect((await wholeTrack(one)).map(({ alarms }) => alarms)).toEqual([['towing'], [], ['sos']]);
      expect((await wholeTrack(two)).map(({ alarms }) => alarms)).toEqual([['power-cut', 'sos'], []]);
      expect(await warehouse.insert([])).toBe(0);
      await expect(warehouse.insert([warehouse.positionRows([]), warehouse.eventRows([])])).rejects.toThrow(TypeError);
    });

    test('a vehicle id that is no UUID is refused as unfit', async () => {
      const record = { offset: 1, value: packet('car 7' as VehicleId, [blankPosition(RECEIVED_MS, 50, 10)]) };
      await expect(warehouse.insertPositions([record])).rejects.toThrow(UnfitRecordError);
    });

    test('inserts and questions go on side by side', async () => {
      const vehicleIds = Array.from({ length: 8 }, nextVehicleId);
      const inserts = vehicleIds.map((vehicleId, offset) =>
        warehouse.insertPositions([
          { offset, value: packet(vehicleId, [blankPosition(RECEIVED_MS - offset, 50, 10)]) },
        ]),
      );
      const questions = vehicleIds.map((vehicleId) => warehouse.track({ vehicleId, ...EVER, limit: 5 }));
      await Promise.all([...inserts, ...questions]);
      const tracks = await Promise.all(vehicleIds.map(wholeTrack));
      expect(tracks.map((track) => track.map(({ fixTimeMs }) => RECEIVED_MS - fixTimeMs))).toEqual(
        vehicleIds.map((_, offset) => [offset]),
      );
    });

    test('what is erased is gone for good, in both tables and at geofences, and nothing else is', {
      timeout: 180_000,
    }, async () => {
      const [erased, visitor, other] = [nextVehicleId(), nextVehicleId(), nextVehicleId()];
      const fixes = (vehicleId: VehicleId) =>
        Array.from({ length: 3 }, (_, nth) => ({
          offset: nth,
          // In two months, and so in two parts.
          value: packet(vehicleId, [blankPosition(RECEIVED_MS - nth * 20 * 86_400_000, 50, 10)]),
        }));
      for (const id of [erased, visitor, other]) await warehouse.insertPositions(fixes(id));
      const events = [erased, visitor, other].map(someEvents);
      // The home of somebody who is erased, and a place of others.
      const home = `${crypto.randomUUID()}` as GeofenceId;
      const [, atHome] = events;
      if (atHome) Object.assign(atHome.end, { geofenceId: home });
      await warehouse.insertEvents(
        events.flatMap(({ end, speeding }) => [end, speeding]).map((value, offset) => ({ offset, value })),
      );
      const question = { vehicleIds: [erased], geofenceIds: [home] };
      const first = await warehouse.erase(question);
      expect(first).toMatchObject({ done: false, rows: 6 });
      // ClickHouse takes a fifth of a second for each part, those without such rows included; tests before this one
      // left hundreds.
      await vi.waitFor(async () => expect(await warehouse.erase(question)).toEqual({ done: true, rows: 0 }), {
        timeout: 150_000,
        interval: 100,
      });
      expect(await wholeTrack(erased)).toEqual([]);
      expect(await wholeTrack(visitor)).toHaveLength(3);
      const kinds = async (vehicleId: VehicleId) =>
        (await warehouse.events({ vehicleId, ...EVER, limit: 10 })).events.map(({ kind }) => kind);
      expect([await kinds(erased), await kinds(visitor), await kinds(other)]).toEqual([
        [],
        ['speeding'],
        ['geofence-visit', 'speeding'],
      ]);
      const injected = [`${erased}' OR 1 = 1 --` as VehicleId];
      await expect(warehouse.erase({ vehicleIds: injected, geofenceIds: [] })).rejects.toThrow(TypeError);
      expect(await warehouse.erase({ vehicleIds: [], geofenceIds: [] })).toEqual({ done: true, rows: 0 });
    });

    test('what vehicles did before a time goes for good, each up to its own, and nothing after it', {
      timeout: 180_000,
    }, async () => {
      const [one, two, other] = [nextVehicleId(), nextVehicleId(), nextVehicleId()];
      const at = (nth: number) => RECEIVED_MS - nth * 20 * 86_400_000;
      for (const id of [one, two, other]) {
        const packets = [0, 1, 2].map((nth) => packet(id, [blankPosition(at(nth), 50, 10)]));
        // One with a clock at fault: it counts by when it came.
        const wrong = { ...packet(id, [blankPosition(Date.UTC(1980, 0), 50, 10)]), receivedAtMs: at(0) };
        await warehouse.insertPositions([...packets, wrong].map((value, offset) => ({ offset, value })));
      }
      const events = [one, other].flatMap((id) => [someEvents(id).end, someEvents(id).speeding]);
      await warehouse.insertEvents(events.map((value, offset) => ({ offset, value })));
      const cuts = [
        { vehicleId: one, beforeMs: at(1) },
        { vehicleId: two, beforeMs: at(0) + 1 },
      ];
      expect(await warehouse.countBefore(cuts.slice(0, 1))).toEqual({ positions: 1, events: 0 });
      expect(await warehouse.countBefore(cuts)).toEqual({ positions: 5, events: 0 });
      const all = [...cuts, { vehicleId: one, beforeMs: at(0) }];
      expect(await warehouse.countBefore(all)).toMatchObject({ events: 2 });
      expect(await warehouse.eraseBefore(cuts)).toEqual({ done: false, rows: 5 });
      await vi.waitFor(async () => expect(await warehouse.eraseBefore(cuts)).toEqual({ done: true, rows: 0 }), {
        timeout: 150_000,
        interval: 100,
      });
      const tracks = await Promise.all([one, two, other].map(wholeTrack));
      expect(tracks.map((track) => track.length)).toEqual([3, 0, 4]);
      await expect(
        warehouse.eraseBefore([{ vehicleId: `${one}' OR 1 = 1 --` as VehicleId, beforeMs: 1 }]),
      ).rejects.toThrow(TypeError);
      await expect(warehouse.countBefore([{ vehicleId: one, beforeMs: Number.NaN }])).rejects.toThrow(TypeError);
      expect(await warehouse.eraseBefore([])).toEqual({ done: true, rows: 0 });
    });

    test('an event is one, in its latest phase, in whatever order and however often its phases come', async () => {
      const vehicleId = nextVehicleId();
      const before = await warehouse.eventCount();
      const { begin, end, speeding } = someEvents(vehicleId);
      await warehouse.insertEvents([
        { offset: 4, value: end },
        { offset: 2, value: speeding },
      ]);
      await warehouse.insertEvents([
        { offset: 1, value: begin },
        { offset: 2, value: speeding },
      ]);
      await warehouse.insertEvents([{ offset: 4, value: end }]);
      const { events, next } = await warehouse.events({ vehicleId, ...EVER, limit: 10 });
      expect(events).toEqual([end, speeding]);
      expect(next).toBeNull();
      expect(await warehouse.eventCount()).toBe(before + 2);

      const firstPage = await warehouse.events({ vehicleId, ...EVER, limit: 1 });
      expect(firstPage.events).toEqual([end]);
      const secondPage = await warehouse.events({ vehicleId, ...EVER, limit: 1, after: firstPage.next });
      expect(secondPage).toEqual({ events: [speeding], next: null });
    });

    test('an event of any kind comes back with all that it says', async () => {
      const vehicleId = nextVehicleId();
      const reported = eventsOfAllKinds(vehicleId);
      expect(new Set(reported.map(({ kind }) => kind))).toEqual(new Set(EVENT_KINDS));
      await warehouse.insertEvents(reported.map((value, offset) => ({ offset, value })));
      expect((await warehouse.events({ vehicleId, ...EVER, limit: 100 })).events).toEqual(reported);
    });

    test('what was recalculated stands over what was published live, whenever that comes, and what never happened is gone', async () => {
      const vehicleId = nextVehicleId();
      const before = await warehouse.eventCount();
      const { begin, end, speeding } = someEvents(vehicleId);
      await warehouse.insertEvents([
        { offset: 1, value: begin },
        { offset: 2, value: speeding },
      ]);
      const corrected: FleetEvent = { ...end, endedAtMs: (end.endedAtMs ?? 0) - 1000, origin: 'recalculated' };
      await warehouse.replaceEvents({ number: 7, written: [corrected], removed: [speeding] });
      const seen = async () => (await warehouse.events({ vehicleId, ...EVER, limit: 10 })).events;
      expect(await seen()).toEqual([corrected]);
      // The live rules knew nothing of it, and their events may still be on the way.
      await warehouse.insertEvents([
        { offset: 3, value: speeding },
        { offset: 4, value: end },
      ]);
      expect(await seen()).toEqual([corrected]);
      expect(await warehouse.eventCount()).toBe(before + 1);
      expect(await warehouse.recentEvents({ vehicleIds: [vehicleId], ...EVER, limit: 9 })).toEqual([corrected]);
      // A later recalculation may find that it happened after all; an earlier one that comes late changes nothing.
      await warehouse.replaceEvents({ number: 8, written: [speeding], removed: [] });
      await warehouse.replaceEvents({ number: 6, written: [], removed: [speeding, end] });
      expect(await seen()).toEqual([corrected, speeding]);
      await warehouse.replaceEvents({ number: 9, written: [], removed: [] });
    });

    test('what is archived is reported with who wrote it, page by page, and only what lasted until then', async () => {
      const vehicleId = nextVehicleId();
      const { begin, end, speeding } = someEvents(vehicleId);
      await warehouse.insertEvents([{ offset: 1, value: begin }]);
      await warehouse.replaceEvents({ number: 2 ** 41 + 1, written: [], removed: [speeding] });
      const question = {
        vehicleId,
        fromMs: 0,
        throughMs: RECEIVED_MS,
        untilMs: 0,
        geofenceId: null as GeofenceId | null,
        after: null,
      };
      const all = await warehouse.archivedEvents({ ...question, limit: 10 });
      expect(all.next).toBeNull();
      expect(all.events).toMatchObject([
        { event: begin, recalculation: null, removed: false },
        { event: { id: speeding.id }, recalculation: 2 ** 41 + 1, removed: true },
      ]);
      const first = await warehouse.archivedEvents({ ...question, limit: 1 });
      expect(first.events).toMatchObject([{ event: begin }]);
      const second = await warehouse.archivedEvents({ ...question, limit: 1, after: first.next });
      expect(second).toMatchObject({ events: [{ event: { id: speeding.id } }], next: null });

      const ids = async (more: Partial<typeof question>) =>
        (await warehouse.archivedEvents({ ...question, limit: 10, ...more })).events.map(({ event }) => event.id);
      expect(await ids({ throughMs: begin.fixTimeMs })).toEqual([begin.id]);
      expect(await ids({ fromMs: begin.fixTimeMs + 1 })).toEqual([speeding.id]);
      expect(await ids({ geofenceId: begin.geofenceId })).toEqual([begin.id]);
      // One that goes on lasts for ever; one that is over was reported by its last fix.
      expect(await ids({ untilMs: RECEIVED_MS })).toEqual([begin.id]);
      await warehouse.insertEvents([{ offset: 2, value: end }]);
      expect(await ids({ untilMs: end.fixTimeMs })).toEqual([begin.id]);
      expect(await ids({ untilMs: end.fixTimeMs + 1 })).toEqual([]);
    });

    test('what came late is reported from what was sent again', async () => {
      const vehicleId = nextVehicleId();
      const at = (second: number) => blankPosition(RECEIVED_MS - 100_000 + second * 1000, 50, 10);
      await warehouse.insertPositions([{ offset: 1, value: packet(vehicleId, [at(1), at(3)]) }]);
      const later = { receivedAtMs: RECEIVED_MS + 5000 };
      const hasLate = (fromSecond: number, toSecond: number) =>
        warehouse.hasLateArrivals({
          vehicleId,
          fromMs: at(fromSecond).fixTimeMs,
          throughMs: at(toSecond).fixTimeMs,
          receivedFromMs: later.receivedAtMs,
        });
      await warehouse.insertPositions([{ offset: 2, value: packet(vehicleId, [at(1), at(3)], later) }]);
      expect(await hasLate(1, 3)).toBe(false);
      await warehouse.insertPositions([{ offset: 3, value: packet(vehicleId, [at(2)], later) }]);
      expect(await hasLate(1, 3)).toBe(true);
      expect(await hasLate(2, 2)).toBe(true);
      expect(await hasLate(3, 3)).toBe(false);
    });

    test('rejected positions are counted by reason since a moment, the last rejected first', async () => {
      const vehicleId = nextVehicleId();
      const at = (second: number) => blankPosition(RECEIVED_MS - 100_000 + second * 1000, 50, 10);
      const ahead = { ...at(9), fixTimeMs: Date.UTC(2090, 0, 1) };
      const sent = (offset: number, second: number, ...positions: Position[]) => ({
        offset,
        value: packet(vehicleId, positions, { receivedAtMs: at(second).fixTimeMs }),
      });
      await warehouse.insertPositions([
        sent(1, 5, at(1), { ...at(2), latitude: 91 }, { ...at(3), latitude: 0, longitude: 0 }),
        sent(2, 10, { ...at(4), latitude: 95 }, ahead),
        // Sent again, it is not counted twice.
        sent(3, 20, { ...at(4), latitude: 95 }),
      ]);
      const since = (second: number) => warehouse.rejections({ vehicleId, receivedFromMs: at(second).fixTimeMs });
      const all = await since(0);
      expect(all.map(({ reason, count }) => [reason, count])).toEqual([
        ['out-of-range', 2],
        ['time-in-future', 1],
        ['null-island', 1],
      ]);
      expect(all[1]).toEqual({
        reason: 'time-in-future',
        count: 1,
        lastFixTimeMs: ahead.fixTimeMs,
        lastReceivedAtMs: at(10).fixTimeMs,
        latitude: 50,
        longitude: 10,
      });
      expect((await since(6)).map(({ reason }) => reason)).toEqual(['out-of-range', 'time-in-future']);
      expect(await since(30)).toEqual([]);
    });

    test('a fix that a slow server took for the future is not counted as rejected once its time has come', async () => {
      const vehicleId = nextVehicleId();
      const fix = blankPosition(RECEIVED_MS - 60_000, 50, 10);
      const receivedAtMs = fix.fixTimeMs - 20 * 60_000;
      await warehouse.insertPositions([{ offset: 1, value: packet(vehicleId, [fix], { receivedAtMs }) }]);
      expect(await warehouse.rejections({ vehicleId, receivedFromMs: 0 })).toEqual([]);
    });

    test('the last fixes up to a moment begin where they begin', async () => {
      const vehicleId = nextVehicleId();
      const at = (second: number) => blankPosition(RECEIVED_MS - 100_000 + second * 1000, 50, 10);
      await warehouse.insertPositions([
        { offset: 1, value: packet(vehicleId, [at(1), at(2), { ...at(3), valid: false }, at(4), at(5)]) },
      ]);
      const start = (throughMs: number, count: number) => warehouse.startOfLastFixes({ vehicleId, throughMs, count });
      expect(await start(at(4).fixTimeMs, 1)).toBe(at(4).fixTimeMs);
      expect(await start(at(4).fixTimeMs, 2)).toBe(at(2).fixTimeMs);
      expect(await start(at(4).fixTimeMs, 100)).toBe(at(1).fixTimeMs);
      expect(await start(at(1).fixTimeMs - 1, 1)).toBeNull();
    });

    test('what recalculations ask of many vehicles at once is what each is answered alone', async () => {
      const DAY_MS = 86_400_000;
      // Some drove a moment ago, some days ago, one came to be today, and of one there is nothing.
      const fleet = Array.from({ length: 12 }, nextVehicleId);
      const newestMs = (nth: number) => RECEIVED_MS - (nth % 4) ** 2 * DAY_MS;
      for (const [nth, vehicleId] of fleet.slice(0, -1).entries()) {
        const positions = Array.from({ length: 30 }, (_, fix): Position => {
          const at = blankPosition(
            newestMs(nth) - (30 - fix) * (nth === 3 ? DAY_MS : 60_000),
            50 + nth / 100,
            10 + fix / 1000,
          );
          if (fix % 7 === 3) return { ...at, latitude: 91 };
          return {
            ...at,
            valid: fix % 5 > 0,
            speedKmh: fix,
            ignition: fix > 3,
            odometerM: 1000 + fix,
            supplyV: 12.5,
            alarms: fix === 9 ? ['sos'] : NO_ALARMS,
          };
        });
        const { begin, end, speeding } = someEvents(vehicleId);
        const [early, late] = [positions.slice(0, 20), positions.slice(20)];
        await warehouse.insertPositions([
          { offset: 1, value: packet(vehicleId, early) },
          { offset: 2, value: packet(vehicleId, late, { receivedAtMs: RECEIVED_MS + (nth % 2) * 5000 }) },
        ]);
        await warehouse.insertEvents([
          { offset: 1, value: begin },
          { offset: 2, value: nth % 2 ? end : speeding },
        ]);
        if (nth % 3 === 0) await warehouse.replaceEvents({ number: nth + 1, written: [], removed: [speeding] });
      }

      const fromMs = (nth: number) => newestMs(nth) - 12 * 60_000;
      const pageOf = async (limit: number, after: (nth: number) => TrackCursor | null) => {
        const many = await warehouse.judgedTracks(
          fleet.map((vehicleId, nth) => ({ vehicleId, fromMs: fromMs(nth), after: after(nth) })),
          limit,
        );
        for (const [nth, vehicleId] of fleet.entries()) {
          const question = {
            vehicleId,
            fromMs: fromMs(nth),
            toMs: Number.POSITIVE_INFINITY,
            limit,
            withRejected: true,
          };
          const alone = await warehouse.track({ ...question, after: after(nth) });
          const judged = alone.positions.map(({ terminalId: _, protocol: __, ...position }) => position);
          expect(many[nth]).toEqual({ positions: judged, next: alone.next });
        }
        return many;
      };
      const first = await pageOf(7, () => null);
      expect(first.map(({ positions }) => positions.length)).toContain(7);
      await pageOf(100, (nth) => first[nth]?.next ?? null);

      // What counters go by: of those that go by sensors the whole records.
      const behind = fleet.map((vehicleId, nth) => ({ vehicleId, afterMs: fromMs(nth) - 1 }));
      const brief = await warehouse.countedTracks(behind, 7);
      const whole = await warehouse.countedTracks(behind, 7, true);
      for (const [nth, vehicleId] of fleet.entries()) {
        const question = { vehicleId, fromMs: fromMs(nth), toMs: Number.POSITIVE_INFINITY, limit: 7 };
        const alone = await warehouse.track({ ...question, withRejected: true });
        expect(whole[nth]).toEqual({ positions: alone.positions, hasMore: alone.next !== null });
        const places = (track: readonly { fixTimeMs: number; latitude: number; odometerM: number | null }[] = []) =>
          track.map(({ fixTimeMs, latitude, odometerM }) => [fixTimeMs, latitude, odometerM]);
        expect(places(brief[nth]?.positions)).toEqual(places(alone.positions));
      }

      for (const [count, backMs] of [
        [1, 0],
        [16, 300_000],
        [100, 300_000],
      ] as const) {
        const questions = fleet.map((vehicleId, nth) => ({ vehicleId, throughMs: newestMs(nth) - backMs, count }));
        const alone = await Promise.all(questions.map((question) => warehouse.startOfLastFixes(question)));
        expect(await warehouse.startsOfLastFixes(questions)).toEqual(alone);
      }

      const arrivals = fleet.map((vehicleId, nth) => ({
        vehicleId,
        fromMs: fromMs(nth),
        throughMs: newestMs(nth),
        receivedFromMs: RECEIVED_MS + 5000,
      }));
      const arrived = await Promise.all(arrivals.map((question) => warehouse.hasLateArrivals(question)));
      expect(new Set(arrived)).toEqual(new Set([true, false]));
      expect(await warehouse.haveLateArrivals(arrivals)).toEqual(arrived);

      const { begin } = someEvents(fleet[0] as VehicleId);
      for (const [limit, untilMs] of [
        [1, 0],
        [10, 0],
        [10, begin.fixTimeMs + 1],
      ] as const) {
        const questions = fleet.map((vehicleId) => ({ vehicleId, fromMs: 0, throughMs: RECEIVED_MS, untilMs }));
        const alone = await Promise.all(
          questions.map((question) => warehouse.archivedEvents({ ...question, geofenceId: null, after: null, limit })),
        );
        expect(await warehouse.archivedEventsOfMany(questions, limit)).toEqual(alone);
      }
      const twice = { vehicleId: fleet[0] as VehicleId, throughMs: 0, count: 1 };
      await expect(warehouse.startsOfLastFixes([twice, twice])).rejects.toThrow(RangeError);
      expect(await warehouse.judgedTracks([], 10)).toEqual([]);
    });

    test('the newest good fixes before a moment, of each of many vehicles', async () => {
      const [one, two, silent] = [nextVehicleId(), nextVehicleId(), nextVehicleId()];
      const startMs = RECEIVED_MS - 100_000;
      const at = (seconds: number): Position => blankPosition(startMs + seconds * 1000, 59.9, 30.3 + seconds / 100);
      await warehouse.insertPositions([
        {
          offset: 1,
          value: packet(one, [at(1), at(2), { ...at(3), valid: false }, { ...at(4), latitude: 91 }, at(5), at(6)]),
        },
        { offset: 2, value: packet(two, [{ ...at(2), speedKmh: 42.5, courseDeg: 270, ignition: true }, at(3)]) },
      ]);
      const asked = (seconds: number, count: number, from = 0) =>
        warehouse
          .fixesBefore({
            vehicleIds: [one, two, silent],
            fromMs: startMs + from * 1000,
            beforeMs: startMs + seconds * 1000,
            count,
          })
          .then((fixes) =>
            [one, two].map((id) =>
              fixes.filter(({ vehicleId }) => vehicleId === id).map((fix) => (fix.fixTimeMs - startMs) / 1000),
            ),
          );
      expect(await asked(6, 2)).toEqual([
        [2, 5],
        [2, 3],
      ]);
      expect(await asked(6, 100)).toEqual([
        [1, 2, 5],
        [2, 3],
      ]);
      expect(await asked(3, 100, 2)).toEqual([[2], [2]]);
      const [fix] = await warehouse.fixesBefore({
        vehicleIds: [two],
        fromMs: 0,
        beforeMs: startMs + 3000,
        count: 1,
        queue: 'report',
      });
      const said = { speedKmh: 42.5, courseDeg: 270, ignition: true };
      expect(fix).toEqual({ vehicleId: two, fixTimeMs: startMs + 2000, latitude: 59.9, longitude: 30.32, ...said });
      const [wordless] = await warehouse.fixesBefore({
        vehicleIds: [one],
        fromMs: 0,
        beforeMs: startMs + 3000,
        count: 1,
      });
      expect(wordless).toMatchObject({ fixTimeMs: startMs + 2000, speedKmh: null, courseDeg: null, ignition: null });
      expect(await warehouse.fixesBefore({ vehicleIds: [], fromMs: 0, beforeMs: startMs, count: 1 })).toEqual([]);
    });

    test('the newest events of many vehicles come first, whoever they are of', async () => {
      const [one, two, other] = [nextVehicleId(), nextVehicleId(), nextVehicleId()];
      const [ofOne, ofTwo, ofOther] = [someEvents(one), someEvents(two), someEvents(other)];
      await warehouse.insertEvents(
        [ofOne.end, ofOne.speeding, ofTwo.begin, ofTwo.speeding, ofOther.end].map((value, offset) => ({
          offset,
          value,
        })),
      );
      const newest = async (vehicleIds: VehicleId[] | null, limit = 100) =>
        (await warehouse.recentEvents({ vehicleIds, ...EVER, limit })).map(({ id }) => id);
      const ids = [ofOne.end, ofOne.speeding, ofTwo.begin, ofTwo.speeding].map(({ id }) => id);
      const found = await newest([one, two]);
      expect(found.toSorted()).toEqual(ids.toSorted());
      // The time part of an event's id is that of its fix.
      const times = found.map((id) => id.slice(0, 13));
      expect(times).toEqual(times.toSorted().toReversed());
      expect(await newest([one, two], 2)).toEqual(found.slice(0, 2));
      expect(await newest([])).toEqual([]);
      const others = Array.from({ length: MAX_RECENT_VEHICLES - 2 }, nextVehicleId);
      expect(await newest([...others, one, two])).toEqual(found);
      expect(await newest(null, 10_000)).toEqual(expect.arrayContaining([...ids, ofOther.end.id]));
      expect((await warehouse.recentEvents({ vehicleIds: [one], ...EVER, limit: 100 })).toReversed()).toEqual(
        (await warehouse.events({ vehicleId: one, ...EVER, limit: 10 })).events,
      );
      const asked = { vehicleIds: [one, two], ...EVER, limit: 100 };
      const visits = await warehouse.recentEvents({ ...asked, kinds: ['geofence-visit'] });
      expect(visits.map(({ id }) => id).toSorted()).toEqual([ofOne.end.id, ofTwo.begin.id].toSorted());
      const { geofenceId } = ofOne.end;
      const ofGeofence = (await warehouse.recentEvents(asked)).filter(
        (event) => 'geofenceId' in event && event.geofenceId === geofenceId,
      );
      expect(ofGeofence).not.toEqual([]);
      expect(await warehouse.recentEvents({ ...asked, geofenceIds: [geofenceId] })).toEqual(ofGeofence);
      expect(await warehouse.recentEvents({ ...asked, geofenceIds: [] })).toEqual([]);
      const beganAtMs = RECEIVED_MS - 600_000;
      expect(await warehouse.firstEventMs({ vehicleIds: [one], ...EVER })).toBe(beganAtMs);
      expect(await warehouse.firstEventMs({ vehicleIds: [one], fromMs: 0, toMs: beganAtMs })).toBeNull();
      expect(await warehouse.recentEvents({ vehicleIds: [one], fromMs: 0, toMs: beganAtMs, limit: 1 })).toEqual([]);
    });
  });
}

function someEvents(vehicleId: VehicleId) {
  const beganAtMs = RECEIVED_MS - 600_000;
  const geofenceId = '00000000-0000-4000-8000-00000000000f' as GeofenceId;
  const begin: GeofenceVisit = {
    id: deriveEventId('geofence-visit', vehicleId, geofenceId, beganAtMs),
    phase: 'begin',
    vehicleId,
    startedAtMs: beganAtMs - 1500,
    endedAtMs: null,
    latitude: 55.7512345,
    longitude: -37.6184321,
    speedKmh: 43.2,
    fixTimeMs: beganAtMs,
    kind: 'geofence-visit',
    geofenceId,
    fromFixTimeMs: beganAtMs - 1500,
    definitionVersion: 7,
    origin: 'live',
    inferred: false,
    endReason: null,
  };
  const end: GeofenceVisit = {
    ...begin,
    phase: 'end',
    endedAtMs: beganAtMs + 300_250,
    latitude: 55.76,
    speedKmh: null,
    fixTimeMs: beganAtMs + 301_000,
    endReason: 'left',
  };
  const speeding: FleetEvent = {
    id: deriveEventId('speeding', vehicleId, '', beganAtMs + 60_000),
    phase: 'end',
    vehicleId,
    startedAtMs: beganAtMs + 60_000,
    endedAtMs: beganAtMs + 90_000,
    latitude: 55.755,
    longitude: -37.62,
    speedKmh: 58,
    fixTimeMs: beganAtMs + 90_000,
    kind: 'speeding',
    limitSource: 'vehicle',
    geofenceId: null,
    fromFixTimeMs: beganAtMs + 60_000,
    definitionVersion: 3,
    origin: 'recalculated',
    inferred: false,
    limitKmh: 60,
    peakKmh: 87.5,
    meanKmh: 71.03,
    distanceM: 592.125,
    endReason: 'slowed',
  };
  return { begin, end, speeding };
}

/** One event of each kind, in the order in which they began. */
function eventsOfAllKinds(vehicleId: VehicleId): FleetEvent[] {
  const { end, speeding } = someEvents(vehicleId);
  let minute = 1;
  const lasting = <Kind extends EventKind>(kind: Kind) => {
    const startedAtMs = RECEIVED_MS - 500_000 + minute++ * 60_000;
    return {
      kind,
      id: deriveEventId(kind, vehicleId, '', startedAtMs),
      phase: 'end' as const,
      vehicleId,
      startedAtMs,
      endedAtMs: startedAtMs + 600_000,
      latitude: -33.8567844,
      longitude: 151.2152967,
      speedKmh: 0.5,
      fromFixTimeMs: startedAtMs - 10_000,
      fixTimeMs: startedAtMs + 610_000,
      definitionVersion: minute,
      origin: minute % 2 === 0 ? ('live' as const) : ('recalculated' as const),
      inferred: false,
    };
  };
  return [
    { ...end, inferred: true },
    speeding,
    {
      ...lasting('trip'),
      startLatitude: 33.1234567,
      startLongitude: -151.7654321,
      distanceM: 12_345.6789,
      movingMs: 590_001,
      idlingMs: 9_999,
      maxKmh: 101.25,
      meanKmh: 74.074,
      endReason: 'stopped',
    },
    { ...lasting('parking'), idlingMs: 0, endReason: 'moved' },
    { ...lasting('idling'), idlingMs: 600_000, endReason: 'ignition' },
    { ...lasting('ignition'), driverCode: 'A1', endReason: 'switched-off' },
    { ...lasting('alarm'), alarm: 'sos', endReason: 'cleared' },
    { ...lasting('power-cut'), phase: 'begin', endedAtMs: null, speedKmh: null, endReason: null },
    { ...lasting('offline'), endReason: 'online' },
    {
      ...lasting('maintenance-due'),
      planId: '00000000-0000-7000-8000-0000000000d1' as MaintenancePlanId,
      planName: 'Oil and filter',
      stage: 'warning',
      cause: 'engine-hours',
      endReason: 'due',
    },
    { ...lasting('driver-shift'), driverCode: '0100000012345678', endReason: 'parked' },
    {
      ...lasting('refuelling'),
      volumeL: 212.4,
      levelBeforeL: 80.1,
      levelAfterL: 292.3,
      whileMoving: false,
      endReason: 'settled',
    },
    {
      ...lasting('fuel-drain'),
      volumeL: 31.000001,
      levelBeforeL: 301.7,
      levelAfterL: 268.9,
      whileMoving: true,
      endReason: 'settled',
    },
    { ...lasting('harsh-driving'), manoeuvre: 'braking', peakMps2: 4.25, endReason: 'cleared' },
    { ...lasting('harsh-driving'), manoeuvre: 'cornering', peakMps2: null, endReason: 'cleared' },
    {
      ...lasting('sensor-threshold'),
      sensorId: '00000000-0000-7000-8000-0000000000e1' as SensorId,
      sensorName: 'Cargo',
      sensorKind: 'temperature',
      unit: '°C',
      thresholdId: '00000000-0000-7000-8000-0000000000e2',
      condition: 'outside',
      min: -25.5,
      max: -15,
      value: -14.25,
      peakValue: -3.5,
      endReason: 'returned',
    },
  ];
}

const orNull = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });
const scaled = (min: number, max: number, scale: number) => fc.integer({ min, max }).map((whole) => whole / scale);

const arbitraryAttribute: fc.Arbitrary<AttributeValue> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
  fc.boolean(),
);

const arbitraryPosition: fc.Arbitrary<Position> = fc.record({
  fixTimeMs: fc.oneof(
    fc.integer({ min: RECEIVED_MS - 60 * 86_400_000, max: RECEIVED_MS }),
    fc.constantFrom(0, -1, Date.UTC(2004, 11, 31), RECEIVED_MS + 86_400_000, 2 ** 32, 8.64e15, -8.64e15),
  ),
  latitude: fc.oneof(scaled(-900_000_000, 900_000_000, 1e7), fc.constantFrom(0, 90, -90, 95.5, -214.7483648)),
  longitude: fc.oneof(scaled(-1_800_000_000, 1_800_000_000, 1e7), fc.constantFrom(0, 180, -180, 214.7483647)),
  valid: fc.boolean(),
  speedKmh: orNull(scaled(0, 65_535, 10)),
  courseDeg: orNull(fc.integer({ min: 0, max: 359 })),
  altitudeM: orNull(fc.integer({ min: -32_768, max: 32_767 })),
  satellites: orNull(fc.integer({ min: 0, max: 255 })),
  ignition: orNull(fc.boolean()),
  odometerM: orNull(fc.integer({ min: 0, max: 0xffff_ffff })),
  supplyV: orNull(scaled(0, 0xffff_ffff, 1000)),
  fuelL: orNull(scaled(0, 0xffff_ffff, 10)),
  alarms: fc.oneof(fc.constant(NO_ALARMS), fc.subarray<Alarm>(['sos', 'power-cut', 'tamper', 'crash', 'other'])),
  attributes: orNull(
    fc.dictionary(fc.string({ unit: 'binary', maxLength: 20 }), arbitraryAttribute, {
      maxKeys: 6,
      noNullPrototype: true,
    }),
  ),
});

const arbitraryPacket: fc.Arbitrary<TelemetryPacket> = fc.record({
  vehicleId: fc.constant('' as VehicleId),
  terminalId: fc.oneof(
    fc.stringMatching(/^\d{15}$/),
    fc.string({ unit: 'binary', maxLength: 200 }),
  ) as fc.Arbitrary<TerminalId>,
  protocol: fc.constantFrom('teltonika', 'wialon-ips', 'a-later-protocol'),
  receivedAtMs: fc.constant(RECEIVED_MS),
  positions: fc.array(arbitraryPosition, { minLength: 1, maxLength: 30 }),
});

/** A time that no receiver can mean is kept as the nearest that the archive's columns hold (1900 to 2299). */
function kept(timeMs: number): number {
  return Math.max(Date.UTC(1900, 0), Math.min(Date.UTC(2299, 11, 31, 23, 59, 59, 998), timeMs));
}

/**
 * What the archive says of a position. -0 is 0 to it; what was in the future when it was received is judged when it is
 * read.
 */
function asArchived(position: Position, packet: TelemetryPacket): ArchivedPosition {
  const rejection = rejectionOf(position, packet.receivedAtMs);
  const { attributes } = position;
  return {
    ...position,
    fixTimeMs: kept(position.fixTimeMs),
    latitude: position.latitude + 0,
    longitude: position.longitude + 0,
    attributes: attributes && { ...attributes },
    receivedAtMs: packet.receivedAtMs,
    terminalId: packet.terminalId,
    protocol: packet.protocol,
    rejection: rejection === 'time-in-future' && kept(position.fixTimeMs) <= Date.now() ? null : rejection,
  };
}
