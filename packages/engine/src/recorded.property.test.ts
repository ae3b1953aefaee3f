import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import {
  blankPosition,
  type FleetEvent,
  type GeofenceId,
  geofenceOf,
  type LngLat,
  type Position,
  type Shape,
  type TerminalId,
} from '@outrider/domain';
import { hasAllInputs } from '@outrider/testing';
import { expect, test } from 'vitest';
import { Engine } from './engine.ts';
import { isInside, Oracle } from './oracle.fixture.ts';
import { changeTo, geofence, user, VEHICLE, vehicle } from './scene.fixture.ts';

const RECORDED = join(import.meta.dirname, '../../../../shared/data/geolife-001.csv.gz');
const FIXES = 20_000;
/** Those that the plain rules are asked for, which take half a minute for all of them. */
const COMPARED = hasAllInputs() ? FIXES : 8000;

function recordedTrack(): Position[] {
  const [, ...lines] = gunzipSync(readFileSync(RECORDED)).toString().trim().split('\n');
  return lines.slice(0, FIXES).map((line) => {
    const [latitude, longitude, time] = line.split(',');
    return blankPosition(Date.parse(`${time?.replace(' ', 'T')}Z`), Number(latitude), Number(longitude));
  });
}

/**
 * Around where the carrier was at some of the fixes, so that it comes and goes, jitters and jumps across boundaries.
 */
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
  const track = recordedTrack().slice(0, COMPARED);
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

  const reported: FleetEvent[] = [];
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
    engine.process(packet, i, reported);
    expected.push(...oracle.process(packet, i));
  }
  // Ids, order, reasons, fixes; where and when to what a receiver could report.
  const facts = (events: readonly FleetEvent[]) =>
    events.map(({ id, kind, phase, fixTimeMs, endReason }) => ({ id, kind, phase, fixTimeMs, endReason }));
  const byFix = (events: readonly FleetEvent[]) =>
    events.toSorted(
      (a, b) => a.fixTimeMs - b.fixTimeMs || `${a.kind} ${geofenceOf(a)}`.localeCompare(`${b.kind} ${geofenceOf(b)}`),
    );
  expect(facts(byFix(reported))).toEqual(facts(byFix(expected)));
  expect(reported.length).toBeGreaterThan(COMPARED / 100);
  expect(track.some((fix) => shapes.some((shape) => isInside(shape, fix)))).toBe(true);
});

const box = ([x, y]: LngLat, dx: number, dy: number): Shape => ({
  type: 'polygon',
  rings: [
    [
      [x - dx, y - dy],
      [x + dx, y - dy],
      [x + dx, y + dy],
      [x - dx, y + dy],
      [x - dx, y - dy],
    ],
  ],
});
/** Where the carrier spends the nights, the days, and a street crossed on the way, narrower than the steps over it. */
const PLACES: Record<string, Shape> = {
  home: { type: 'circle', center: [116.3065, 40.0138], radiusM: 120 },
  work: box([116.3272, 39.9781], 0.0012, 0.0009),
  street: {
    type: 'line',
    path: [
      [116.3, 39.9955],
      [116.34, 39.9955],
    ],
    widthM: 10,
  },
};

/** `10-23 10:44:47 +visit street`; of an end with what it adds up to. */
function inWords(event: FleetEvent, names: readonly string[]): string {
  const atMs = event.phase === 'begin' ? event.startedAtMs : (event.endedAtMs ?? Number.NaN);
  const time = new Date(atMs).toISOString().slice(5, 19).replace('T', ' ');
  const geofenceId = geofenceOf(event);
  const place = geofenceId === null ? '' : ` ${names[Number(geofenceId.at(-1))]}`;
  const inferred = event.inferred ? ', inferred' : '';
  const minutes = Math.round((atMs - event.startedAtMs) / 6000) / 10;
  const distance = event.kind === 'trip' ? `, ${Math.round(event.distanceM)} m` : '';
  const total = event.phase === 'begin' ? '' : `, ${minutes} min${distance}, ${event.endReason}`;
  return `${time} ${event.phase === 'begin' ? '+' : '-'}${event.kind}${place}${inferred}${total}`;
}

test.runIf(existsSync(RECORDED))('the first days of the walk, as they were looked at and found right', () => {
  const track = recordedTrack().filter(({ fixTimeMs }) => fixTimeMs < Date.UTC(2008, 9, 25, 3));
  const names = Object.keys(PLACES);
  const engine = new Engine();
  engine.load([
    changeTo(user()),
    changeTo(vehicle()),
    ...Object.values(PLACES).map((shape, i) =>
      changeTo(geofence({ id: `00000000-0000-7000-8000-0000000000f${i}` as GeofenceId, shape })),
    ),
  ]);
  const reported: FleetEvent[] = [];
  for (const [offset, position] of track.entries())
    engine.process(
      {
        vehicleId: VEHICLE,
        terminalId: '1' as TerminalId,
        protocol: 'omnicomm',
        receivedAtMs: position.fixTimeMs,
        positions: [position],
      },
      offset,
      reported,
    );
  expect(reported.map((event) => inWords(event, names))).toMatchInlineSnapshot(`
    [
      "10-23 05:53:06 +trip",
      "10-23 06:01:02 +geofence-visit work",
      "10-23 06:01:57 +offline",
      "10-23 06:01:57 -trip, 8.9 min, 1534 m, stopped",
      "10-23 10:32:53 -offline, 270.9 min, online",
      "10-23 10:32:53 -geofence-visit work, 271.8 min, left",
      "10-23 10:33:04 +geofence-visit work",
      "10-23 10:33:05 +trip",
      "10-23 10:34:27 -geofence-visit work, 1.4 min, left",
      "10-23 10:44:47 +geofence-visit street",
      "10-23 10:44:51 -geofence-visit street, 0.1 min, left",
      "10-23 11:09:33 +geofence-visit home",
      "10-23 11:10:29 +offline",
      "10-23 11:49:08 -offline, 38.7 min, online",
      "10-23 11:50:31 -trip, 77.4 min, 8193 m, stopped",
      "10-23 11:50:31 +parking",
      "10-23 12:04:28 +offline",
      "10-23 23:41:04 -offline, 696.6 min, online",
      "10-23 23:41:06 -parking, 710.6 min, moved",
      "10-23 23:41:06 +trip",
      "10-23 23:45:37 -geofence-visit home, 756.1 min, left",
      "10-24 00:01:11 +geofence-visit street, inferred",
      "10-24 00:01:13 -geofence-visit street, inferred, 0 min, left",
      "10-24 00:11:24 +geofence-visit work",
      "10-24 00:11:25 -geofence-visit work, 0 min, left",
      "10-24 00:11:33 +geofence-visit work",
      "10-24 00:11:41 -geofence-visit work, 0.1 min, left",
      "10-24 00:11:42 +geofence-visit work",
      "10-24 00:11:53 -geofence-visit work, 0.2 min, left",
      "10-24 00:21:23 +geofence-visit work",
      "10-24 00:23:18 +offline",
      "10-24 00:23:13 -trip, 42.1 min, 6470 m, stopped",
      "10-24 01:45:41 -offline, 82.4 min, online",
      "10-24 01:45:43 +trip",
      "10-24 01:47:00 -geofence-visit work, 85.6 min, left",
      "10-24 02:03:11 +offline",
      "10-24 02:28:19 -offline, 25.1 min, online",
      "10-24 02:02:56 -trip, 17.2 min, 2217 m, stopped",
      "10-24 02:02:56 +parking",
      "10-24 02:28:20 -parking, 25.4 min, moved",
      "10-24 02:28:20 +trip",
      "10-24 02:32:37 +offline",
      "10-24 03:16:35 -offline, 44 min, online",
      "10-24 02:32:02 -trip, 3.7 min, 423 m, stopped",
      "10-24 02:32:02 +parking",
      "10-24 03:16:40 -parking, 44.6 min, moved",
      "10-24 03:16:40 +trip",
      "10-24 03:37:05 -trip, 20.4 min, 789 m, stopped",
      "10-24 03:37:05 +parking",
      "10-24 03:42:05 -parking, 5 min, moved",
      "10-24 03:42:05 +trip",
      "10-24 03:55:30 +geofence-visit work",
      "10-24 03:56:02 -geofence-visit work, 0.5 min, left",
      "10-24 03:56:58 +geofence-visit work",
      "10-24 03:58:27 -geofence-visit work, 1.5 min, left",
      "10-24 04:08:28 +geofence-visit work",
      "10-24 04:13:35 +offline",
      "10-24 04:13:35 -trip, 31.5 min, 2124 m, gap",
      "10-24 05:28:05 -offline, 74.5 min, online",
      "10-24 05:28:07 +trip",
      "10-24 05:29:23 -geofence-visit work, 80.9 min, left",
      "10-24 05:40:23 +offline",
      "10-24 06:08:42 -offline, 28.3 min, online",
      "10-24 06:33:07 +geofence-visit work",
      "10-24 06:33:16 -geofence-visit work, 0.1 min, left",
      "10-24 06:34:32 +geofence-visit work",
      "10-24 06:35:50 +offline",
      "10-24 06:35:40 -trip, 67.6 min, 5281 m, stopped",
      "10-24 23:44:05 -offline, 1028.3 min, online",
      "10-24 23:44:05 -geofence-visit work, 1029.5 min, left",
      "10-24 23:44:05 +geofence-visit home",
      "10-24 23:44:06 +trip",
      "10-24 23:50:16 -geofence-visit home, 6.2 min, left",
      "10-24 23:52:32 -trip, 8.4 min, 331 m, stopped",
      "10-24 23:52:32 +parking",
      "10-24 23:58:27 -parking, 5.9 min, moved",
      "10-24 23:58:27 +trip",
    ]
  `);
});
