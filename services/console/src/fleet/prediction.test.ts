import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { Fix } from './fleet.ts';
import { latitudeOf, longitudeOf, metresBetween } from './mercator.ts';
import { fleetAt, setState } from './test-fleet.fixture.ts';

type Recorded = Pick<Fix, 'latitude' | 'longitude' | 'fixMs'>;

/** Drives recorded by people; only where they are beside the repository. */
const RECORDED = join(import.meta.dirname, '../../../../../shared/data/geolife-001.csv.gz');
/** Fixes farther apart are of different drives. */
const DRIVE_GAP_MS = 6000;
const STEP_MS = 10_000;
/** A receiver finds speed and course from so much of the way behind it. */
const MEASURED_MS = 4000;

function recordedDrives(): Recorded[][] {
  const drives: Recorded[][] = [];
  const fixes = gunzipSync(readFileSync(RECORDED))
    .toString()
    .split('\n')
    .slice(1)
    .filter((line) => line !== '')
    .map((line): Recorded => {
      const [latitude, longitude, time = ''] = line.split(',');
      return {
        latitude: Number(latitude),
        longitude: Number(longitude),
        fixMs: Date.parse(`${time.replace(' ', 'T')}Z`),
      };
    })
    .sort((a, b) => a.fixMs - b.fixMs);
  let drive: Recorded[] = [];
  for (const fix of fixes) {
    const stepMs = fix.fixMs - (drive.at(-1)?.fixMs ?? fix.fixMs);
    if (stepMs > DRIVE_GAP_MS) drive = [];
    if (drive.length === 0) drives.push(drive);
    if (drive.length === 0 || stepMs > 0) drive.push(fix);
  }
  return drives;
}

/** A drive through a town, a fix a second: straight roads at 50 km/h, bends of 30 m, stops of 20 s. */
function townDrive(): Recorded[] {
  const drive: Recorded[] = [];
  let [x, y, course] = [0, 0, 0];
  for (let second = 0; second < 3600; second += 1) {
    const leg = second % 90;
    const isStopped = leg >= 70;
    const isBending = leg >= 60 && !isStopped;
    const metres = isStopped ? 0 : isBending ? 6 : 13.9;
    if (isBending) course += metres / 30;
    x += metres * Math.sin(course);
    y += metres * Math.cos(course);
    drive.push({ longitude: 30 + x / 55_800, latitude: 60 + y / 111_200, fixMs: 1e12 + second * 1000 });
  }
  return drive;
}

/** As a terminal sends it each ten seconds, with what its receiver measures. */
function sent(drive: readonly Recorded[]): Fix[] {
  const fixes: Fix[] = [];
  let first = 0;
  for (const [nth, fix] of drive.entries()) {
    while (fix.fixMs - (drive[first + 1]?.fixMs ?? fix.fixMs) >= MEASURED_MS && first + 1 < nth) first += 1;
    if (fix.fixMs - (fixes.at(-1)?.fixMs ?? 0) < STEP_MS) continue;
    const from = drive[first] as Recorded;
    const seconds = (fix.fixMs - from.fixMs) / 1000;
    const metres = metresBetween([from.longitude, from.latitude], [fix.longitude, fix.latitude]);
    const east = (fix.longitude - from.longitude) * Math.cos((fix.latitude * Math.PI) / 180);
    const course = (Math.atan2(east, fix.latitude - from.latitude) * 180) / Math.PI;
    fixes.push({ ...fix, speedKmh: seconds === 0 ? 0 : (metres / seconds) * 3.6, courseDeg: (course + 360) % 360 });
  }
  return fixes;
}

/** Metres between where the vehicle is drawn and where it is, at each fix the moment before it comes. */
function errorsM(drives: readonly (readonly Recorded[])[], state: 'moving' | 'unknown'): number[] {
  return drives.flatMap((drive) => {
    const [first, ...others] = sent(drive);
    if (first === undefined) return [];
    const fleet = fleetAt({ a: [first.longitude, first.latitude] });
    setState(fleet, 'a', state);
    fleet.fixMs[0] = first.fixMs;
    let isMoving = false;
    return others.flatMap((fix) => {
      const drawn = [longitudeOf(fleet.drawnX(0, fix.fixMs)), latitudeOf(fleet.drawnY(0, fix.fixMs))] as const;
      const error = metresBetween(drawn, [fix.longitude, fix.latitude]);
      const counts = isMoving;
      isMoving = (fix.speedKmh ?? 0) > 2;
      fleet.move('a', fix, fix.fixMs);
      return counts ? [error] : [];
    });
  });
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

describe('a vehicle that moves is drawn where it is by now, at one fix in ten seconds', () => {
  test('on a drive through a town', () => {
    const drives = [townDrive()];
    expect(median(errorsM(drives, 'moving'))).toBeLessThan(10);
    expect(median(errorsM(drives, 'unknown'))).toBeGreaterThan(100);
  });

  test.skipIf(!existsSync(RECORDED))('on recorded drives', () => {
    const drives = recordedDrives();
    const errors = errorsM(drives, 'moving');
    expect(errors.length).toBeGreaterThan(10_000);
    expect(median(errors)).toBeLessThan(10);
  });
});
