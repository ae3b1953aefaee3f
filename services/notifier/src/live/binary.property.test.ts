import { ALARMS, blankPosition, type GeofenceId, VEHICLE_STATES, type VehicleId } from '@outrider/domain';
import { sampleStatus } from '@outrider/domain/samples';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { positionRecord, positionsFrame, statesFrame, VehicleNumbers, vehiclesFrame } from './binary.ts';
import { type BinaryMessage, readBinaryMessage } from './binary-reader.fixture.ts';

const NOW = Date.UTC(2026, 0, 15, 12);
const uuid = fc.uuid({ version: 7 });
const geofences = fc.uniqueArray(uuid, { maxLength: 4 });
const status = fc
  .record({
    vehicleId: uuid,
    latitude: fc.double({ min: -90, max: 90, noNaN: true }),
    longitude: fc.double({ min: -180, max: 180, noNaN: true }),
    fixTimeMs: fc.integer({ min: 1, max: 2 ** 42 }),
    speed: fc.option(fc.integer({ min: 0, max: 4000 })),
    course: fc.option(fc.integer({ min: 0, max: 3599 })),
    satellites: fc.option(fc.integer({ min: 0, max: 40 })),
    valid: fc.boolean(),
    hasPosition: fc.boolean(),
    activity: fc.option(
      fc.record({
        state: fc.constantFrom(...VEHICLE_STATES),
        sinceMs: fc.option(fc.integer({ min: 1000, max: NOW })),
        ignition: fc.option(fc.boolean()),
        alarms: fc.subarray([...ALARMS]),
        geofenceIds: geofences,
        speeding: fc.array(fc.option(uuid), { maxLength: 3 }),
      }),
    ),
  })
  .map(({ vehicleId, hasPosition, activity, speed, course, latitude, longitude, fixTimeMs, satellites, valid }) => {
    const position = {
      ...blankPosition(fixTimeMs, latitude, longitude),
      valid,
      satellites,
      speedKmh: speed === null ? null : speed / 10,
      courseDeg: course === null ? null : course / 10,
    };
    return sampleStatus(vehicleId as VehicleId, position, NOW, {
      activity: activity as never,
      ...(hasPosition ? {} : { position: null }),
    });
  });
const STATE_CODES = { unknown: 5, moving: 1, parking: 2, idling: 3, offline: 4 };

/** Also by a clock that is behind, and of a packet that waited for long. */
const DELAYS: readonly [ms: number, written: number][] = [
  [0, 0],
  [-3, 0],
  [17.6, 18],
  [65_534, 65_534],
  [86_400_000, 65_535],
];
const delayMs = (nth: number) => DELAYS[nth % DELAYS.length]?.[0] ?? 0;
const writtenDelayMs = (_: unknown, nth: number) => DELAYS[nth % DELAYS.length]?.[1];

/** A message without its WebSocket header. */
function read(frame: Buffer): BinaryMessage {
  const length = (frame[1] ?? 0) & 0x7f;
  expect(frame[0]).toBe(0x82);
  return readBinaryMessage(frame.subarray(length < 126 ? 2 : length === 126 ? 4 : 10));
}

test('what a message says of vehicles, positions and states is read back by the documented layout', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(status, { minLength: 1, maxLength: 20, selector: ({ vehicleId }) => vehicleId }),
      fc.func(fc.boolean()),
      fc.boolean(),
      (statuses, isVisible, hasDelays) => {
        const numbers = new VehicleNumbers();
        const sees = (id: GeofenceId) => isVisible(id);
        const vehicles = statuses.map((one) => ({ vehicleId: one.vehicleId, status: one }));
        const introduced = read(vehiclesFrame(vehicles, numbers, sees, NOW, { isSnapshot: true, isLast: true }));
        const positions = read(
          positionsFrame(
            statuses.map((one) => positionRecord(one, numbers.of(one.vehicleId))),
            NOW,
            hasDelays ? statuses.map((_, nth) => delayMs(nth)) : null,
          ),
        );
        const states = read(statesFrame(statuses, numbers, sees, NOW));
        expect([introduced, positions, states]).toMatchObject([
          { type: 1, isSnapshot: true, isLast: true, sentAtMs: NOW },
          { type: 2, isSnapshot: false, geofenceIds: [], delaysMs: hasDelays ? statuses.map(writtenDelayMs) : null },
          { type: 3, isSnapshot: false },
        ]);
        for (const id of [...introduced.geofenceIds, ...states.geofenceIds])
          expect(isVisible(id as GeofenceId)).toBe(true);
        for (const [nth, one] of statuses.entries()) {
          const { activity, position } = one;
          const state = {
            number: numbers.of(one.vehicleId),
            lastContactS: NOW / 1000,
            state: activity === null ? 0 : STATE_CODES[activity.state],
            ignition: activity?.ignition ?? null,
          };
          const lists = {
            sinceS: Math.floor((activity?.sinceMs ?? 0) / 1000),
            alarms: activity?.alarms.length
              ? activity.alarms.reduce((set, each) => set | (1 << ALARMS.indexOf(each)), 0)
              : null,
            within: (activity?.geofenceIds ?? []).filter(sees),
            speedingIn: (activity?.speeding ?? []).filter((id) => id === null || sees(id)),
          };
          const place = {
            latitude: position && Math.round(position.latitude * 1e7) / 1e7 + 0,
            longitude: position && Math.round(position.longitude * 1e7) / 1e7 + 0,
            fixTimeMs: position?.fixTimeMs ?? null,
            speedKmh: position?.speedKmh ?? null,
            courseDeg: position?.courseDeg ?? null,
            satellites: position?.satellites ?? null,
            isValid: position?.valid ?? false,
          };
          const seen = { ...state, ...place };
          expect(introduced.records[nth]).toEqual({ ...seen, ...lists, vehicleId: one.vehicleId });
          expect(positions.records[nth]).toMatchObject(seen);
          expect(states.records[nth]).toMatchObject({ ...state, ...lists });
        }
      },
    ),
  );
});

test('a vehicle that nothing is known of has a number and nothing else', () => {
  const vehicleId = '0190a000-0000-7000-8000-000000000001' as VehicleId;
  const { records } = read(vehiclesFrame([{ vehicleId, status: null }], new VehicleNumbers(), () => true, NOW));
  expect(records).toMatchObject([{ vehicleId, number: 0, latitude: null, lastContactS: 0, state: 0, sinceS: 0 }]);
});
