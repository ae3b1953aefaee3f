import type {
  FleetEvent,
  Geofence,
  GeofenceId,
  LngLat,
  Position,
  Shape,
  TelemetryPacket,
  TerminalId,
} from '@outrider/domain';
import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Engine } from './engine.ts';
import { comparable, inOrder, Oracle } from './oracle.fixture.ts';
import { changeTo, fix, geofence, T0, user, VEHICLE, vehicle } from './scene.fixture.ts';

// A vehicle that stays about a few yards for long: the same cells again and again, most fixes changing nothing, many
// near a boundary; and none on one, as it begins between whole centimetres and no step leads back there.
const [X, Y] = [37.61, 55.74];
const METRE_Y = 1 / 111_195;
const METRE_X = METRE_Y / Math.cos((Y * Math.PI) / 180);
const at = (eastM: number, northM: number): LngLat => [X + eastM * METRE_X, Y + northM * METRE_Y];

/** Whole centimetres: no two of them fall on one place. */
const metres = (most: number) => fc.integer({ min: -most * 100, max: most * 100 }).map((cm) => cm / 100);
const middle = fc.tuple(metres(200), metres(200));
const sizeM = fc.constantFrom(15, 40, 90, 250);
const polygon = fc
  .tuple(middle, sizeM, fc.integer({ min: 3, max: 9 }), metres(3))
  .map(([[x, y], size, points, turn]) => {
    const ring = Array.from({ length: points }, (_, i) => {
      const angle = turn + (2 * Math.PI * i) / points;
      return at(x + size * Math.cos(angle), y + size * (i % 2 ? 1 : 0.7) * Math.sin(angle));
    });
    return { type: 'polygon', rings: [[...ring, ring[0] as LngLat]] } satisfies Shape;
  });
const circle = fc
  .tuple(middle, sizeM)
  .map(([[x, y], radiusM]) => ({ type: 'circle', center: at(x, y), radiusM }) satisfies Shape);
const line = fc
  .tuple(fc.uniqueArray(middle, { minLength: 2, maxLength: 4, selector: String }), fc.constantFrom(10, 30, 80))
  .map(([path, widthM]) => ({ type: 'line', path: path.map(([x, y]) => at(x, y)), widthM }) satisfies Shape);
const shape: fc.Arbitrary<Shape> = fc.oneof(polygon, circle, line);
const limit = fc.constantFrom(null, null, 30, 60);
const fields = fc.record({ shape, speedLimitKmh: limit, minDwellSeconds: fc.constantFrom(0, 0, 0, 12) });

/** Fixes by steps from the last; now and then a definition changes between two of them. */
const leg = fc.record({
  fixes: fc.array(
    fc.record({
      eastM: metres(14),
      northM: metres(14),
      seconds: fc.constantFrom(1, 1, 1, 2, 10),
      speedKmh: fc.constantFrom(null, 0, 20, 20, 20, 20, 45, 70),
      ignition: fc.constantFrom(null, null, null, null, null, null, null, true, false, false),
    }),
    { minLength: 150, maxLength: 250 },
  ),
  /** So many of its last fixes stand still, the others go on. */
  halt: fc.constantFrom(0, 0, 40, 90),
  change: fc.oneof(
    fc.record({ what: fc.constant('shape' as const), number: fc.nat(9), shape }),
    fc.record({ what: fc.constant('limit' as const), number: fc.nat(9), speedLimitKmh: limit }),
    fc.record({ what: fc.constant('vehicle' as const), speedLimitKmh: limit }),
    fc.record({ what: fc.constant('nothing' as const) }),
  ),
});

const scenario = fc.tuple(
  fc.array(fields, { minLength: 10, maxLength: 14 }),
  fc.array(leg, { minLength: 3, maxLength: 5 }),
);

test('a vehicle that moves little: the engine, which looks at most fixes only briefly, says what the oracle says', () => {
  let reported = 0;
  fc.assert(
    // By seed, so that what fails is named by a number and not by thousands of fixes.
    fc.property(fc.integer(), (seed) => {
      const [[geofences, legs] = [[], []]] = fc.sample(scenario, { seed, numRuns: 1 });
      const engine = new Engine();
      const oracle = new Oracle();
      const current: Geofence[] = geofences.map((of, n) =>
        geofence({ id: `00000000-0000-7000-8000-${String(n).padStart(12, '0')}` as GeofenceId, ...of }),
      );
      let profile = vehicle({ speedLimitKmh: 60, speedToleranceKmh: 5 });
      const definitions = [user(), profile, ...current].map((definition) => changeTo(definition));
      engine.load(definitions);
      for (const definition of definitions) oracle.apply(definition);

      let seconds = 0;
      let offset = 0;
      let odometerM = 0;
      let [eastM, northM] = [0.0037, 0.0041];
      const compare = (real: readonly FleetEvent[], expected: readonly FleetEvent[]) => {
        expect(inOrder(real)).toEqual(comparable(inOrder(expected)));
        reported += real.length;
      };
      for (const { fixes, halt, change } of legs) {
        const positions = fixes.map((step, nth): Position => {
          const stands = nth >= fixes.length - halt;
          seconds += stands ? 10 : step.seconds;
          if (!stands) {
            // Back to the yards where it would stray from them.
            eastM = (eastM + step.eastM) * 0.98;
            northM = (northM + step.northM) * 0.98;
          }
          odometerM += stands ? 0 : 9;
          return fix(seconds, ...at(eastM, northM), {
            speedKmh: stands ? 0 : step.speedKmh,
            ignition: step.ignition,
            odometerM: seed % 2 === 0 ? null : odometerM,
          });
        });
        for (let i = 0; i < positions.length; i += 10) {
          const packet: TelemetryPacket = {
            vehicleId: VEHICLE,
            terminalId: '1' as TerminalId,
            protocol: 'teltonika',
            receivedAtMs: T0 + seconds * 1000,
            positions: positions.slice(i, i + 10),
          };
          const events: FleetEvent[] = [];
          engine.process(packet, offset, events);
          compare(events, oracle.process(packet, offset));
          offset++;
        }
        if (change.what === 'nothing') continue;
        if (change.what === 'vehicle') {
          profile = { ...profile, version: profile.version + 1, speedLimitKmh: change.speedLimitKmh };
          const made = changeTo(profile, T0 + seconds * 1000);
          compare(engine.applyDefinition(made), oracle.apply(made));
          continue;
        }
        const { what: _, number, ...changed } = change;
        const before = current[number] as Geofence;
        const after = { ...before, ...changed, version: before.version + 1 };
        current[number] = after;
        const made = changeTo(after, T0 + seconds * 1000);
        compare(engine.applyDefinition(made), oracle.apply(made));
      }
    }),
    { numRuns: runs(50), endOnFailure: true },
  );
  expect(reported).toBeGreaterThan(runs(50) * 40);
});
