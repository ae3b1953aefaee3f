import {
  ALARMS,
  blankPosition,
  type Definition,
  EVENT_KINDS,
  type EventKind,
  type FleetEvent,
  type GeofenceId,
  noteCause,
  PacketTrace,
  type Position,
  type TelemetryPacket,
  type TerminalId,
  type UserId,
  type VehicleId,
  WORKER_EVENT_KINDS,
} from '@outrider/domain';
import { sampleGeofence, sampleSensor, sampleUser, sampleVehicle } from '@outrider/domain/samples';
import { Engine } from '@outrider/engine';
import { eventsTopic, telemetryTopic } from '@outrider/log';
import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';

const T0 = Date.UTC(2026, 2, 1, 8);
const OWNER = '00000000-0000-7000-8000-0000000000aa' as UserId;
const id = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`;

const definitions: Definition[] = [
  sampleUser({ id: OWNER }),
  ...[1, 2].map(
    (n): Definition =>
      sampleVehicle({
        id: id(n) as VehicleId,
        name: `Van ${n}`,
        speedLimitKmh: 60,
        speedToleranceKmh: 5,
        speedingMinSeconds: n === 1 ? 0 : 30,
        sensors: [
          sampleSensor({
            source: 'fuelL',
            smoothing: n,
            thresholds: [
              {
                ...{ id: id(60), condition: 'below', min: 20 },
                ...{ max: null, hysteresis: 5, forSeconds: n === 1 ? 0 : 60 },
              },
            ],
          }),
        ],
      }),
  ),
  ...[0.002, 0.0055, 0.009].map(
    (middle, n): Definition =>
      sampleGeofence({
        id: id(70 + n) as GeofenceId,
        name: `Yard ${n}`,
        ownerId: OWNER,
        shape: { type: 'circle', center: [middle, middle], radiusM: 150 },
        speedLimitKmh: n === 1 ? 30 : null,
        minDwellSeconds: n === 2 ? 40 : 0,
      }),
  ),
];

const step = fc.record({
  seconds: fc.constantFrom(1, 10, 30, 30, 61, 180, 320, 4000),
  place: fc.tuple(fc.integer({ min: 0, max: 110 }), fc.integer({ min: 0, max: 110 })),
  presences: fc.boolean(),
  valid: fc.constantFrom(true, true, true, false),
  speedKmh: fc.option(fc.constantFrom(0, 0, 25, 66, 90), { nil: null }),
  ignition: fc.option(fc.boolean(), { nil: null }),
  odometerM: fc.option(fc.integer({ min: 0, max: 5000 }), { nil: null }),
  supplyV: fc.option(fc.constantFrom(0, 12.6), { nil: null }),
  fuelL: fc.option(fc.constantFrom(10, 22, 40), { nil: null }),
  alarms: fc.subarray([...ALARMS], { maxLength: 2 }),
  attributes: fc.option(fc.constantFrom({ driverCode: 'A1' }, { driverCode: 'B2' }), { nil: null }),
});
const recording = fc.array(
  fc.record({
    vehicle: fc.constantFrom(1, 2),
    steps: fc.array(step, { minLength: 1, maxLength: 6 }),
    restart: fc.boolean(),
  }),
  { minLength: 1, maxLength: 25 },
);

type Recording = typeof recording extends fc.Arbitrary<infer R> ? R : never;

/** What the log keeps of the packets: bytes. */
function logOf(packets: Recording): Buffer[] {
  let atMs = T0;
  let last: [number, number] = [0, 0];
  return packets.map(({ vehicle, steps }) => {
    const positions = steps.map(({ seconds, place, presences, ...fields }): Position => {
      atMs += seconds * 1000;
      if (!presences) last = place;
      return { ...blankPosition(atMs, last[0] / 10_000, last[1] / 10_000), ...fields };
    });
    const packet: TelemetryPacket = {
      vehicleId: id(vehicle) as VehicleId,
      terminalId: String(vehicle) as TerminalId,
      protocol: 'teltonika',
      receivedAtMs: atMs,
      positions,
      trace: new PacketTrace(1, 2, vehicle, atMs | 0),
    };
    return Buffer.from(telemetryTopic.encode(packet));
  });
}

/** The events that the rules make of a log, as the log keeps them. */
function replay(log: readonly Buffer[], restartsBefore: (packet: number) => boolean, kinds: Set<EventKind>): Buffer {
  let engine = new Engine();
  engine.load(
    definitions.map((definition) => {
      const { kind, id, version } = definition;
      return { kind, id, version, changedAtMs: T0, definition };
    }),
  );
  const kept = new Map<string, Buffer>();
  const bytes: Buffer[] = [];
  for (const [offset, record] of log.entries()) {
    if (restartsBefore(offset)) {
      for (const [key, value] of engine.takeChanges()) {
        if (value === null) kept.delete(key);
        else kept.set(key, value);
      }
      engine = new Engine();
      engine.restore(kept);
    }
    const events: FleetEvent[] = [];
    const packet = telemetryTopic.decode(record);
    engine.process(packet, offset, events);
    noteCause(events, 0, packet);
    for (const event of events) {
      kinds.add(event.kind);
      bytes.push(Buffer.from(eventsTopic.encode(event)));
    }
  }
  return Buffer.concat(bytes);
}

test('replaying the same log twice gives byte-identical events, with any restarts in between', () => {
  const kinds = new Set<EventKind>();
  fc.assert(
    fc.property(recording, (packets) => {
      const log = logOf(packets);
      const first = replay(log, () => false, kinds);
      const second = replay(log, () => false, kinds);
      expect(second.equals(first)).toBe(true);
      const restarted = replay(log, (packet) => packets[packet]?.restart === true, kinds);
      expect(restarted.equals(first)).toBe(true);
    }),
    { numRuns: runs(500) },
  );
  const ofTanks: readonly EventKind[] = ['refuelling', 'fuel-drain'];
  const expected = EVENT_KINDS.filter((kind) => !WORKER_EVENT_KINDS.has(kind) && !ofTanks.includes(kind));
  expect([...kinds].sort()).toEqual(expected.sort());
});
