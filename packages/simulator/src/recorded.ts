import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { blankPosition, type Position } from '@outrider/domain';
import { createRandom } from './random.ts';

/**
 * A recording of one carrier, with gaps, jitter and jumps as receivers make them; it stands beside the repository, if
 * at all.
 */
const RECORDING = new URL('../../../../shared/data/geolife-001.csv.gz', import.meta.url);

export interface DriveSource {
  /** At most this many positions. */
  limit: number;
  /** Default: a recording where there is one. `generated` never looks for it. */
  source?: 'recorded-or-generated' | 'generated';
}

/**
 * A drive to play: recorded where the recording stands beside the repository, else generated with the same traits.
 * Time, place and validity only; in the order and with the repeats that the receiver made.
 *
 * @throws {Error} when the recording is there and can't be read as such
 */
export function loadDrive({ limit, source = 'recorded-or-generated' }: DriveSource): Position[] {
  return source === 'recorded-or-generated' && existsSync(RECORDING)
    ? readRecording(gunzipSync(readFileSync(RECORDING)).toString('latin1'), limit)
    : generateDrive(limit, 20081023);
}

/**
 * @param csv lines of `lat,lng,datetime,uid` under a header; `datetime` is UTC, `YYYY-MM-DD HH:MM:SS`
 * @throws {Error} when a line is not such a line
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
 * What the recording's receiver does, made up: fixes 1 to 5 s apart, gaps of minutes to hours, jitter, and a jump now
 * and then.
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
    // Walks, rides, waits: a new pace every minute or so.
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
