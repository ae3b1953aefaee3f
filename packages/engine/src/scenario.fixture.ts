import type {
  Alarm,
  Definition,
  DefinitionChange,
  EventKind,
  FleetEvent,
  Geofence,
  GeofenceId,
  GroupId,
  LngLat,
  Position,
  SensorThreshold,
  Shape,
  TelemetryPacket,
  TerminalId,
  UserId,
  VehicleId,
} from '@outrider/domain';
import { sampleSensor } from '@outrider/domain/samples';
import fc from 'fast-check';
import { expect } from 'vitest';
import { agreement } from './agreement.fixture.ts';
import { Engine } from './engine.ts';
import { comparable, inOrder, Oracle } from './oracle.fixture.ts';
import { changeTo, deletion, fix, geofence, T0, user, vehicle } from './scene.fixture.ts';

// A board of 0.1° a side. Corners of shapes are on multiples of 0.01°, fixes well between them and on no line with two
// of them, so that nothing ever hangs on the last bit of a number.
const COLUMNS = [0.41, 1.37, 2.61, 3.53, 4.29, 5.67, 6.71, 7.43, 8.59, 9.47];
const ROWS = [0.63, 1.47, 2.31, 3.71, 4.57, 5.43, 6.37, 7.69, 8.41, 9.53];

const id = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`;
const GROUPS = [id(91), id(92)] as GroupId[];
const VEHICLES = [id(1), id(2)] as VehicleId[];
const USERS = [id(51), id(52)] as UserId[];
const GEOFENCES = [id(71), id(72), id(73)] as GeofenceId[];

const corner = fc.tuple(fc.integer({ min: 0, max: 10 }), fc.integer({ min: 0, max: 10 }));
const near = fc.tuple(fc.constantFrom(...COLUMNS), fc.constantFrom(...ROWS)).map(([x, y]) => degrees([x, y]));
/** A jump away from all others, for an hour: where a wrong fix puts a vehicle. */
const far = fc.constantFrom<LngLat>([5, 5], [5.01, 5]);
/** By so many degrees from where it was: not at all, some 30 m, or some 80 m. */
const nudge = fc.constantFrom<{ by: LngLat }>(
  { by: [0, 0] },
  { by: [0, 0] },
  { by: [0.0003, 0] },
  { by: [0.00071, 0.00002] },
);
const place: fc.Arbitrary<LngLat | { by: LngLat }> = fc.oneof(
  { weight: 8, arbitrary: near },
  { weight: 6, arbitrary: nudge },
  { weight: 1, arbitrary: far },
);
const degrees = ([x, y]: readonly [number, number]): LngLat => [x / 100, y / 100];

const box = fc
  .tuple(corner, corner)
  .filter(([[ax, ay], [bx, by]]) => ax < bx && ay < by)
  .map(([[ax, ay], [bx, by]]): Shape => ({ type: 'polygon', rings: [ring(ax, ay, bx, by)] }));
const frame = fc.tuple(fc.nat(4), fc.nat(4), fc.integer({ min: 3, max: 6 })).map(
  ([x, y, size]): Shape => ({
    type: 'polygon',
    rings: [ring(x, y, x + size, y + size), ring(x + 1, y + 1, x + size - 1, y + size - 1).reverse()],
  }),
);
const hook: Shape = {
  type: 'polygon',
  rings: [
    (
      [
        [1, 1],
        [9, 1],
        [9, 9],
        [5, 9],
        [5, 5],
        [4, 5],
        [4, 9],
        [1, 9],
        [1, 1],
      ] as const
    ).map(degrees),
  ],
};
/** A box, and a frame of which another box fills the middle. */
const archipelago: Shape = {
  type: 'multipolygon',
  polygons: [[ring(0, 0, 2, 2)], [ring(3, 1, 9, 7), ring(4, 2, 8, 6).reverse()], [ring(5, 3, 7, 5)]],
};
const circle = fc
  .tuple(corner, fc.constantFrom(900, 1700, 3100))
  .map(([center, radiusM]): Shape => ({ type: 'circle', center: degrees(center), radiusM }));
const line = fc
  .tuple(corner, corner)
  .filter(([a, b]) => a.join() !== b.join())
  .map((path): Shape => ({ type: 'line', path: path.map(degrees), widthM: 1000 }));
const shape = fc.oneof(box, frame, fc.constant(hook), fc.constant(archipelago), circle, line);

function ring(ax: number, ay: number, bx: number, by: number): LngLat[] {
  return (
    [
      [ax, ay],
      [bx, ay],
      [bx, by],
      [ax, by],
      [ax, ay],
    ] as const
  ).map(degrees);
}

const anyThreshold = fc
  .record({
    id: fc.constantFrom(...['e1', 'e2'].map((end) => `00000000-0000-7000-8000-0000000000${end}`)),
    bounds: fc.constantFrom<Pick<SensorThreshold, 'condition' | 'min' | 'max'>>(
      { condition: 'above', min: null, max: 3 },
      { condition: 'above', min: null, max: 3 },
      { condition: 'below', min: 4, max: null },
      { condition: 'inside', min: -6, max: 2.5 },
      { condition: 'outside', min: -4, max: 8 },
    ),
    hysteresis: fc.constantFrom(0, 0, 4),
    forSeconds: fc.constantFrom(0, 0, 60, 600),
  })
  .map(({ bounds, ...rest }): SensorThreshold => ({ ...rest, ...bounds }));
const anySensor = fc
  .record({
    source: fc.constantFrom('t', 't', 't * 2 - 1'),
    validMax: fc.constantFrom(null, null, 9),
    onlyWithIgnition: fc.constantFrom(false, false, true),
    smoothing: fc.constantFrom(1, 1, 2, 3),
    thresholds: fc.uniqueArray(anyThreshold, { maxLength: 2, selector: ({ id }) => id }),
  })
  .map((fields) => sampleSensor(fields));
const sensors = fc.oneof(fc.constant([]), fc.tuple(anySensor), fc.tuple(anySensor));

const groupIds = fc.subarray(GROUPS);
const limit = fc.constantFrom(null, 50, 80);
const harshLimit = fc.constantFrom(null, null, 2.1, 5.1);
const anyUser = fc
  .record({
    id: fc.constantFrom(...USERS),
    role: fc.constantFrom('operator' as const, 'dealer' as const, 'user' as const, 'user' as const),
    blocked: fc.constantFrom(false, false, false, true),
    groupIds,
  })
  .map((fields) => user(fields));
const anyVehicle = fc
  .record({
    id: fc.constantFrom(...VEHICLES),
    dealerId: fc.constantFrom(null, ...USERS),
    groupIds,
    speedLimitKmh: limit,
    speedToleranceKmh: fc.constantFrom(0, 10),
    speedingMinSeconds: fc.constantFrom(0, 0, 60),
    offlineAfterMinutes: fc.constantFrom(10, 10, 3, 90),
    movingSpeedKmh: fc.constantFrom(2, 2, 45),
    movingDistanceM: fc.constantFrom(50, 50, 1500),
    tripStopMinutes: fc.constantFrom(5, 5, 2, 90),
    tripGapMinutes: fc.constantFrom(60, 60, 4),
    harshAccelerationMps2: harshLimit,
    harshBrakingMps2: harshLimit,
    harshCorneringMps2: harshLimit,
    sensors,
  })
  .map((fields) => vehicle(fields));
const anyGeofence = fc
  .record({
    id: fc.constantFrom(...GEOFENCES),
    ownerId: fc.constantFrom(...USERS),
    shape,
    groupIds: fc.option(groupIds, { nil: null }),
    speedLimitKmh: limit,
    minDwellSeconds: fc.constantFrom(0, 45, 200),
  })
  .map((fields) => geofence(fields));

/** What happens next; versions, times and offsets are given when it is played. */
export type Step =
  | { what: 'define'; definition: Definition }
  | { what: 'edit'; geofenceId: GeofenceId; fields: Partial<Geofence> }
  | { what: 'delete'; kind: Definition['kind']; id: string }
  | {
      what: 'drive';
      vehicleId: VehicleId;
      /** The order in which the packet holds its fixes. */
      sent: 'oldest-first' | 'newest-first';
      fixes: { seconds: number; ahead: number; place: LngLat | { by: LngLat }; fields: Partial<Position> }[];
    }
  /** Nothing for this long, and somebody looks. */
  | { what: 'wait'; seconds: number }
  | { what: 'repeat'; back: number; sameOffset: boolean }
  | { what: 'restart' };

const drive = fc.record({
  what: fc.constant('drive' as const),
  vehicleId: fc.constantFrom(...VEHICLES),
  sent: fc.constantFrom('oldest-first' as const, 'oldest-first' as const, 'newest-first' as const),
  fixes: fc.array(
    fc.record({
      seconds: fc.constantFrom(-30, 0, 2, 5, 30, 60, 61, 90, 90, 120, 120, 300, 301, 900, 3700),
      place,
      /** So many seconds ahead of the time at which it is sent. */
      ahead: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 0, 0, 59, 61, 540),
      fields: fc.record({
        speedKmh: fc.constantFrom(null, 0, 0, 0, 40, 55, 61, 85, 120),
        courseDeg: fc.constantFrom(null, 0, 20, 350, 200),
        valid: fc.constantFrom(true, true, true, true, true, false),
        ignition: fc.constantFrom(null, null, null, true, true, false),
        odometerM: fc.constantFrom(null, null, 1000, 2500, 2500, 900_000),
        attributes: fc
          .tuple(
            fc.constantFrom<Position['attributes']>(
              ...Array<null>(6).fill(null),
              { driverCode: 'a1' },
              { driverCode: 'A-1' },
              { driverCode: 'B2' },
              { driverCode: '000000' },
              { driverCardInserted: false },
            ),
            fc.constantFrom<Position['attributes']>(null, { t: -5 }, { t: 2 }, { t: 3.5 }, { t: 10 }),
          )
          .map(([driver, value]) => (driver === null ? value : { ...driver, ...value })),
        supplyV: fc.constantFrom(null, null, null, 0, 0.5, 3, 12, 24),
        alarms: fc.constantFrom<readonly Alarm[]>(
          [],
          [],
          [],
          [],
          ['sos'],
          ['harsh-braking'],
          ['sos', 'harsh-cornering'],
          ['sos', 'power-cut'],
          ['tamper', 'sos', 'tamper'],
        ),
      }),
    }),
    { minLength: 1, maxLength: 8 },
  ),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: drive },
  {
    weight: 2,
    arbitrary: fc.record({
      what: fc.constant('wait' as const),
      seconds: fc.constantFrom(0, 170, 600, 3600, 3601, 4000),
    }),
  },
  {
    weight: 3,
    arbitrary: fc
      .oneof(anyUser, anyVehicle, anyGeofence)
      .map((definition) => ({ what: 'define' as const, definition })),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      what: fc.constant('edit' as const),
      geofenceId: fc.constantFrom(...GEOFENCES),
      fields: fc.oneof(
        fc.record({ shape }),
        fc.record({ shape }),
        fc.record({ speedLimitKmh: limit }),
        fc.record({ name: fc.constant('Other') }),
        fc.record({ minDwellSeconds: fc.constantFrom(0, 60) }),
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ...VEHICLES.map((id) => ({ what: 'delete' as const, kind: 'vehicle' as const, id: id as string })),
      ...USERS.map((id) => ({ what: 'delete' as const, kind: 'user' as const, id: id as string })),
      ...GEOFENCES.map((id) => ({ what: 'delete' as const, kind: 'geofence' as const, id: id as string })),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.record({ what: fc.constant('repeat' as const), back: fc.nat(5), sameOffset: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.constant({ what: 'restart' as const }) },
);

/** Begins with all defined, so that most of what follows means something. */
export const scenario: fc.Arbitrary<Step[]> = fc
  .tuple(
    fc.array(fc.oneof(anyVehicle, anyGeofence, anyGeofence), { maxLength: 6 }),
    fc.array(step, { minLength: 4, maxLength: 16 }),
  )
  .map(([definitions, steps]): Step[] => [
    ...[
      ...USERS.map((id) => user({ id })),
      ...VEHICLES.map((id) => vehicle({ id, speedLimitKmh: 80 })),
      ...definitions,
    ].map((definition): Step => ({ what: 'define', definition })),
    ...steps,
  ]);

/**
 * Plays a scenario to the engine and to the oracle, and compares what they say after each step.
 *
 * @returns how many events of each kind there were
 */
export function play(steps: readonly Step[], reported: Map<EventKind, number>): void {
  let engine = new Engine();
  const oracle = new Oracle();
  const kept = new Map<string, Buffer>();
  const versions = new Map<string, number>();
  const sent: { packet: TelemetryPacket; offset: number }[] = [];
  let seconds = 0;
  const places = new Map<VehicleId, LngLat>();
  const agreed = agreement();

  const compare = (real: readonly FleetEvent[], expected: readonly FleetEvent[]) => {
    expect(inOrder(real)).toEqual(comparable(inOrder(expected)));
    for (const event of real) {
      reported.set(event.kind, (reported.get(event.kind) ?? 0) + 1);
      if (event.kind === 'speeding') expect(event.peakKmh).toBeGreaterThanOrEqual(event.meanKmh - 1e-9);
    }
    agreed.publish(real);
    agreed.check(engine.takeUpdated());
  };
  const send = (packet: TelemetryPacket, offset: number) => {
    const events: FleetEvent[] = [];
    engine.process(packet, offset, events);
    compare(events, oracle.process(packet, offset));
  };
  const change = (make: (version: number) => DefinitionChange, of: string) => {
    const version = (versions.get(of) ?? 0) + 1;
    versions.set(of, version);
    const made = make(version);
    compare(engine.applyDefinition(made), oracle.apply(made));
  };

  for (const step of steps) {
    const now = T0 + seconds * 1000;
    switch (step.what) {
      case 'define':
        change((version) => changeTo({ ...step.definition, version }, now), step.definition.id);
        break;
      case 'edit': {
        const before = oracle.geofences.get(step.geofenceId);
        if (before) change((version) => changeTo({ ...before, ...step.fields, version }, now), step.geofenceId);
        break;
      }
      case 'delete':
        change((version) => deletion(step.kind, step.id, version, now), step.id);
        if (step.kind === 'vehicle') agreed.forget(step.id as VehicleId);
        break;
      case 'drive': {
        const positions = step.fixes.map(({ seconds: later, ahead, place, fields }) => {
          seconds += later;
          const [x, y] = places.get(step.vehicleId) ?? [0.0041, 0.0063];
          const [longitude, latitude] = 'by' in place ? [x + place.by[0], y + place.by[1]] : place;
          places.set(step.vehicleId, [longitude, latitude]);
          return fix(seconds + ahead, longitude, latitude, fields);
        });
        const packet: TelemetryPacket = {
          vehicleId: step.vehicleId,
          terminalId: '1' as TerminalId,
          protocol: 'teltonika',
          receivedAtMs: T0 + seconds * 1000,
          positions: step.sent === 'newest-first' ? positions.toReversed() : positions,
        };
        sent.push({ packet, offset: sent.length });
        send(packet, sent.length - 1);
        break;
      }
      case 'repeat': {
        const again = sent.at(-1 - step.back);
        if (!again) break;
        if (!step.sameOffset) sent.push({ packet: again.packet, offset: sent.length });
        send(again.packet, step.sameOffset ? again.offset : sent.length - 1);
        break;
      }
      case 'wait': {
        seconds += step.seconds;
        const nowMs = T0 + seconds * 1000;
        const events: FleetEvent[] = [];
        expect(engine.hasSilent(nowMs)).toBe(oracle.hasSilent(nowMs));
        engine.advance(nowMs, events);
        compare(events, oracle.advance(nowMs));
        break;
      }
      case 'restart':
        for (const [key, value] of engine.takeChanges()) {
          if (value === null) kept.delete(key);
          else kept.set(key, value);
        }
        engine = new Engine();
        engine.restore(kept);
        agreed.check(engine.allStatuses());
        break;
    }
  }
}
