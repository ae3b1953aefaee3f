import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import {
  blankPosition,
  type FleetEvent,
  type GeofenceId,
  type Position,
  type Shape,
  type TerminalId,
} from '@outrider/domain';
import { expect, test } from 'vitest';
import { Engine } from './engine.ts';
import { isInside, Oracle } from './oracle.fixture.ts';
import { changeTo, geofence, user, VEHICLE, vehicle } from './scene.fixture.ts';

const RECORDED = join(import.meta.dirname, '../../../../shared/data/geolife-001.csv.gz');
const FIXES = 20_000;

function recordedTrack(): Position[] {
  const [, ...lines] = gunzipSync(readFileSync(RECORDED)).toString().trim().split('\n');
  return lines.slice(0, FIXES).map((line) => {
    const [latitude, longitude, time] = line.split(',');
    return blankPosition(Date.parse(`${time?.replace(' ', 'T')}Z`), Number(latitude), Number(longitude));
  });
}

/** Around where the carrier was at some of the fixes, so that it comes and goes, jitters and jumps across boundaries. */
function shapesAround(track: readonly Position[]): Shape[] {
  const shapes: Shape[] = [];
  for (let i = 0; i < track.length; i += 1000) {
    const { longitude: x, latitude: y } = track[i] as Position;
    const next = track[(i + 400) % track.length] as Position;
    const [dx, dy] = [0.004 + (i % 7) * 0.001, 0.003 + (i % 5) * 0.001];
    shapes.push({ type: 'circle', center: [x, y], radiusM: 150 + (i % 3000) / 10 });
    shapes.push({
      type: 'polygon',
      rings: [
        [
          [x - dx, y - dy],
          [x + dx, y - 0.7 * dy],
          [x + 0.8 * dx, y + dy],
          [x - dx, y + 0.6 * dy],
          [x - dx, y - dy],
        ],
      ],
    });
    if (next.longitude !== x || next.latitude !== y)
      shapes.push({
        type: 'line',
        path: [
          [x, y],
          [next.longitude, next.latitude],
        ],
        widthM: 120,
      });
  }
  return shapes;
}

test.runIf(existsSync(RECORDED))('a recorded walk through the city: the engine says what the oracle says', () => {
  const track = recordedTrack();
  const shapes = shapesAround(track);
  const definitions = [
    user(),
    vehicle({ speedLimitKmh: 40, speedToleranceKmh: 3, speedingMinSeconds: 10 }),
    ...shapes.map((shape, i) =>
      geofence({
        id: `00000000-0000-7000-8000-${String(i).padStart(12, '0')}` as GeofenceId,
        shape,
        minDwellSeconds: i % 4 === 0 ? 30 : 0,
        speedLimitKmh: i % 5 === 0 ? 20 : null,
      }),
    ),
  ].map((definition) => changeTo(definition));
  const engine = new Engine();
  engine.load(definitions);
  const oracle = new Oracle();
  for (const definition of definitions) oracle.apply(definition);

  const told: FleetEvent[] = [];
  const expected: FleetEvent[] = [];
  for (let i = 0; i < track.length; i += 10) {
    const positions = track.slice(i, i + 10);
    const receivedAtMs = Math.max(...positions.map(({ fixTimeMs }) => fixTimeMs));
    const packet = {
      vehicleId: VEHICLE,
      terminalId: '1' as TerminalId,
      protocol: 'omnicomm' as const,
      receivedAtMs,
      positions,
    };
    engine.process(packet, i, told);
    expected.push(...oracle.process(packet, i));
  }
  // Ids, order, reasons, fixes; where and when to what a receiver could tell.
  const facts = (events: readonly FleetEvent[]) =>
    events.map(({ id, kind, phase, fixTimeMs, endReason, geofenceId }) => ({
      id,
      kind,
      phase,
      fixTimeMs,
      endReason,
      geofenceId,
    }));
  const byFix = (events: readonly FleetEvent[]) =>
    events.toSorted(
      (a, b) => a.fixTimeMs - b.fixTimeMs || `${a.kind} ${a.geofenceId}`.localeCompare(`${b.kind} ${b.geofenceId}`),
    );
  expect(facts(byFix(told))).toEqual(facts(byFix(expected)));
  expect(told.length).toBeGreaterThan(200);
  expect(track.some((fix) => shapes.some((shape) => isInside(shape, fix)))).toBe(true);
});
