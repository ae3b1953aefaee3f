import { blankPosition, type LngLat, type Position } from '@outrider/domain';
import type { Random } from '@outrider/simulator';

const METRES_PER_DEGREE = 111_195;

/** Where the circuit of all drives lies. */
export const CENTRE: LngLat = [13.4, 52.5];
const CIRCUIT_RADIUS_M = 1200;

/** A place so many metres east and north of the circuit's centre. */
export function placeAt(eastM: number, northM: number): LngLat {
  const [longitude, latitude] = CENTRE;
  return [
    longitude + eastM / (METRES_PER_DEGREE * Math.cos((latitude * Math.PI) / 180)),
    latitude + northM / METRES_PER_DEGREE,
  ];
}

/** A place on the circuit, by the share of it that lies behind. */
export function onCircuit(share: number, offsetM = 0): LngLat {
  const angle = share * 2 * Math.PI;
  return placeAt((CIRCUIT_RADIUS_M + offsetM) * Math.sin(angle), (CIRCUIT_RADIUS_M + offsetM) * Math.cos(angle));
}

/**
 * Fixes of a vehicle that goes round and round, now faster, now slower, with the errors of a receiver: about 80 a
 * round, some seconds apart. Always another one, never the same twice.
 */
export function* driveRound(random: Random, startMs: number): Generator<Position, never> {
  let fixTimeMs = startMs;
  let share = random.next();
  let speedKmh = 50;
  for (;;) {
    const seconds = 4 + Math.floor(random.next() * 5);
    fixTimeMs += seconds * 1000;
    if (random.next() < 0.1) speedKmh = random.pick([0, 25, 45, 55, 62, 80, 95]);
    share += ((speedKmh / 3.6) * seconds) / (2 * Math.PI * CIRCUIT_RADIUS_M);
    const [longitude, latitude] = onCircuit(share, random.gauss() * 5);
    yield {
      ...blankPosition(fixTimeMs, latitude, longitude),
      speedKmh,
      courseDeg: 90,
      altitudeM: 40,
      satellites: 9,
      ignition: true,
    };
  }
}

const STANDS_EVERY = 60;
const STANDS_FIXES = 24;
const STANDS_SECONDS = 30;

/**
 * A drive whose terminal measures: two drivers take turns, the cargo (attribute `t`) gets too warm and is cooled again,
 * and every 60 fixes the vehicle stands for 12 minutes, while its tank is filled or robbed.
 */
export function* measured(drive: Generator<Position, never>): Generator<Position, never> {
  let stoodMs = 0;
  let fuelL = 200;
  for (let nth = 1; ; nth++) {
    const position = drive.next().value;
    const attributes = { ibutton: nth % 100 < 50 ? 'A1B2C3' : 'D4E5F6', t: -18 + 5 * Math.sin(nth / 9) };
    fuelL -= 0.01;
    yield { ...position, fixTimeMs: position.fixTimeMs + stoodMs, fuelL, attributes };
    if (nth % STANDS_EVERY > 0) continue;
    for (let fix = 0; fix < STANDS_FIXES; fix++) {
      stoodMs += STANDS_SECONDS * 1000;
      if (fix === STANDS_FIXES / 2) fuelL += nth % (2 * STANDS_EVERY) > 0 ? 80 : -80;
      const fixTimeMs = position.fixTimeMs + stoodMs;
      yield { ...position, fixTimeMs, speedKmh: 0, ignition: false, fuelL, attributes };
    }
  }
}
