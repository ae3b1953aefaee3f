import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { blankPosition, type Position } from '@outrider/domain';
import { createRandom } from './random.ts';

/**
 * An optional file beside the repository: recording of one person, with the gaps, jitter and jumps of real receivers.
 */
const RECORDING = new URL('../../../../shared/data/geolife-001.csv.gz', import.meta.url);

export interface DriveSource {
  /** Maximum number of positions. */
  limit: number;
  /** Default: a recording where one exists. `generated` never checks for it. */
  source?: 'recorded-or-generated' | 'generated';
}

/**
 * Loads a drive: the recording where it exists beside the repository, else a generated drive with the same traits.
 * Positions have time, place and validity only, with the receiver's order and repeats.
 *
 * @throws {Error} when the recording exists but cannot be read
 */
export function loadDrive({ limit, source = 'recorded-or-generated' }: DriveSource): Position[] {
  return source === 'recorded-or-generated' && existsSync(RECORDING)
    ? readRecording(gunzipSync(readFileSync(RECORDING)).toString('latin1'), limit)
    : generateDrive(limit, 20081023);
}

/**
 * @param csv lines of `lat,lng,datetime,uid` after a header; `datetime` is UTC, `YYYY-MM-DD HH:MM:SS`
 * @throws {Error} when a line is malformed
 */
export function readRecording(csv: string, limit: number): Position[] {
  const positions: Position[] = [];
  let from = csv.indexOf('\n') + 1;
  while (from > 0 && from < csv.length && positions.length < limit) {
    const newline = csv.indexOf('\n', from);
    const end = newline < 0 ? csv.length : newline;
    const line = csv.slice(from, end);
    const [latitude, longitude, time] = line.split(',');
    const position = blankPosition(Date.parse(`${time?.replace(' ', 'T')}Z`), Number(latitude), Number(longitude));
    if (!Number.isFinite(position.fixTimeMs + position.latitude + position.longitude))
      throw new Error(`not a recorded fix: ${line}`);
    positions.push(position);
    from = end + 1;
  }
  return positions;
}

/**
 * Generates positions with the traits of the recording: fixes 1 to 5 s apart, gaps of minutes to hours, jitter, and an
 * occasional jump.
 */
export function generateDrive(count: number, seed: number): Position[] {
  const random = createRandom(seed);
  const positions: Position[] = [];
  let fixTimeMs = Date.UTC(2008, 9, 23, 5, 53, 5);
  let [latitude, longitude] = [47.02, 20.64];
  let headingDeg = random.between(0, 360);
  let speedMps = 1.4;
  while (positions.length < count) {
    const gap = random.next();
    const stepSeconds = gap < 0.997 ? 1 + Math.floor(random.next() * 5) : Math.floor(random.between(60, 7200));
    fixTimeMs += stepSeconds * 1000;
    // Walking, riding, waiting: the speed changes about every minute.
    if (random.next() < 0.05) speedMps = random.pick([0, 1.4, 1.4, 8, 14, 19]);
    headingDeg += random.gauss() * 12;
    const distanceM = speedMps * Math.min(stepSeconds, 5);
    latitude += (distanceM * Math.cos((headingDeg * Math.PI) / 180)) / 111_195;
    longitude +=
      (distanceM * Math.sin((headingDeg * Math.PI) / 180)) / (111_195 * Math.cos((latitude * Math.PI) / 180));
    const errorM = random.next() < 0.002 ? 3000 : 3;
    positions.push(
      blankPosition(
        fixTimeMs,
        Math.round((latitude + (random.gauss() * errorM) / 111_195) * 1e6) / 1e6,
        Math.round((longitude + (random.gauss() * errorM) / 75_800) * 1e6) / 1e6,
      ),
    );
  }
  return positions;
}
