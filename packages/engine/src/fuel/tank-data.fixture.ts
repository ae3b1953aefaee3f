import { createRandom, type Random } from '../../../simulator/src/random.ts';
import type { TankSettings } from './tank.ts';

/** A record of a simulated truck, as its terminal sends it. */
export interface TankRecord {
  atMs: number;
  /** What the sensor says; null where it says nothing. */
  levelL: number | null;
  ignition: boolean;
  speedKmh: number;
  /** Since the record before. */
  distanceM: number;
  latitude: number;
  longitude: number;
}

/** What really happened to the fuel. */
export interface TankTruth {
  kind: 'refuelling' | 'fuel-drain';
  startedAtMs: number;
  endedAtMs: number;
  volumeL: number;
  how: 'refuelling' | 'refuelling unseen' | 'theft parked' | 'theft unseen' | 'theft driving' | 'leak';
}

export interface TankStory {
  settings: TankSettings;
  records: TankRecord[];
  /** In the order of their times. What is under the thresholds is left out. */
  truths: TankTruth[];
  burntL: number;
}

const STEP_S = 5;
const DAY_S = 86_400;
const HOUR_S = 3600;
/** At the end: long enough for what happened last to be seen. */
const QUIET_S = 4 * HOUR_S;

/** What happens to a tank, litres a second, beside what the engine burns. */
interface Flow {
  fromS: number;
  toS: number;
  litresPerS: number;
}

/** Makes the terminal silent for a while. */
interface Gap {
  fromS: number;
  toS: number;
}

/** What a truck does for a while. */
interface Leg {
  fromS: number;
  toS: number;
  drives: boolean;
  /** How much of a stop the engine runs. */
  idles: boolean;
}

/**
 * Some days of a truck with a tank of 400 l: it drives by day and parks at night. The level slips with
 * acceleration, tilts on hills and on sloping yards, follows the temperature, and comes in steps of the sensor; records
 * are missing, the sensor starts anew, a value is wrong. There are refuellings, thefts while it is parked, while it
 * drives and while the terminal is silent, slow leaks; and volumes far under the thresholds, which are no events.
 */
export function tankStory(seed: number, days: number, tankCapacityL = 400, thresholdL = 10): TankStory {
  const random = createRandom(seed);
  const truck = {
    per100KmL: random.between(22, 34),
    perHourL: random.between(1.8, 3.2),
    movingEveryS: random.pick([10, 10, 30, 60]),
    parkedEveryS: random.pick([30, 60, 300, 300, 600, 1800]),
    stepL: random.pick([0.1, 0.4, 1, 1.6]),
    sloshL: tankCapacityL * random.between(0.008, 0.018),
    hillL: tankCapacityL * random.between(0.008, 0.02),
    yardL: tankCapacityL * 0.004,
    warmth: random.between(0.001, 0.005),
  };
  const settings: TankSettings = {
    tankCapacityL,
    minRefuelL: thresholdL,
    minDrainL: thresholdL,
    fuelPer100KmL: Math.round(truck.per100KmL * random.between(0.9, 1.1)),
    fuelPerHourL: Math.round(truck.perHourL * random.between(0.85, 1.15) * 10) / 10,
  };
  const legs = legsOf(random, days);
  const happenings = new Happenings(random, tankCapacityL, thresholdL);
  const { flows, gaps, truths } = happenings;
  const records: TankRecord[] = [];
  const start = Date.UTC(2026, 4, 4);
  let level = tankCapacityL * random.between(0.6, 0.95);
  let burntL = 0;
  let slosh = 0;
  let speed = 0;
  let hill = 0;
  let hillAim = 0;
  let hillUntilS = 0;
  let yard = 0;
  let wasOn = false;
  let sensorBackS = 0;
  let sensorDead: 'zero' | 'half' | null = null;
  let aheadM = 0;
  let latitude = 50;
  let nextS = 0;
  let leg = -1;
  let outageUntilS = 0;
  for (let s = 0; s < days * DAY_S + QUIET_S; s += STEP_S) {
    while (leg < 0 || (legs[leg] as Leg).toS <= s) {
      leg++;
      // One thing a stop, though its engine may run for a part of it.
      if (legs[leg]?.drives || legs[leg - 1]?.drives !== false) happenings.begin(legs[leg] as Leg, level);
      if (legs[leg]?.drives === false && legs[leg - 1]?.drives === true) yard = random.gauss() * truck.yardL;
    }
    const { drives, idles } = legs[leg] as Leg;
    const on = drives || idles;
    const before = speed;
    if (drives) {
      const aim = Math.sin(s / 700) + Math.sin(s / 97 + seed) > 1.4 ? 0 : 55 + 30 * Math.sin(s / 1900 + seed);
      speed += Math.max(-25, Math.min(12, aim - speed)) * (0.2 + 0.3 * random.next());
      if (speed < 1) speed = 0;
    } else speed = 0;
    const wayM = (speed / 3.6) * STEP_S;
    const burn = (wayM / 100_000) * truck.per100KmL + (on && speed < 5 ? (STEP_S / HOUR_S) * truck.perHourL : 0);
    // Uphill it burns more, downhill less.
    const burnt = burn * Math.max(0.3, 1 + hill / (4 * truck.hillL));
    level -= burnt;
    burntL += burnt;
    for (const flow of flows) if (s >= flow.fromS && s < flow.toS) level += flow.litresPerS * STEP_S;
    level = Math.max(2, Math.min(tankCapacityL, level));

    aheadM += wayM;
    latitude += wayM / 111_320;
    if (s >= hillUntilS) {
      hillAim = random.next() < 0.5 ? 0 : random.gauss() * truck.hillL * 0.6;
      hillUntilS = s + random.between(60, 600);
    }
    if (drives) hill += (hillAim - hill) * 0.05;
    slosh = slosh * 0.8 + random.gauss() * truck.sloshL * 0.6 * (speed > 0 ? 1 : 0) + (speed - before) * -0.02;
    if (on && !wasOn && random.next() < 0.25) {
      sensorDead = random.pick(['zero', 'half']);
      sensorBackS = s + random.between(10, 100);
    }
    wasOn = on;
    if (sensorDead === null && random.next() < 0.00002) {
      sensorDead = 'zero';
      sensorBackS = s + random.between(10, 120);
    }
    if (s >= sensorBackS) sensorDead = null;

    if (s < nextS) continue;
    nextS = s + (on ? truck.movingEveryS : truck.parkedEveryS);
    if (random.next() < 0.0004) outageUntilS = s + random.between(300, 3000);
    if (s < outageUntilS || random.next() < 0.03) continue;
    if (gaps.some(({ fromS, toS }) => s >= fromS && s < toS)) continue;
    const tilt = drives ? hill : yard;
    const warm = level * truck.warmth * Math.sin(((s % DAY_S) / DAY_S) * 2 * Math.PI - 2.4);
    const settled = level + tilt + warm + slosh;
    let shown = Math.round(settled / truck.stepL) * truck.stepL;
    if (sensorDead !== null) shown = sensorDead === 'zero' ? 0 : shown / 2;
    else if (random.next() < 0.002) shown = random.between(0, tankCapacityL);
    records.push({
      atMs: start + s * 1000,
      levelL: Math.max(0, Math.min(tankCapacityL * 1.02, shown)),
      ignition: on,
      speedKmh: Math.round(speed * 10) / 10,
      distanceM: aheadM,
      latitude,
      longitude: 14,
    });
    aheadM = 0;
  }
  const asMs = ({ startedAtMs, endedAtMs, ...truth }: TankTruth): TankTruth => ({
    ...truth,
    startedAtMs: start + startedAtMs * 1000,
    endedAtMs: start + endedAtMs * 1000,
  });
  truths.sort((a, b) => a.startedAtMs - b.startedAtMs);
  return { settings, records, truths: truths.map(asMs), burntL };
}

/** Its days: drives of one to three hours with stops between, and a night. */
function legsOf(random: Random, days: number): Leg[] {
  const legs: Leg[] = [];
  let s = 0;
  const add = (lastsS: number, drives: boolean, idles = false) => {
    const lasts = Math.round(lastsS / STEP_S) * STEP_S;
    legs.push({ fromS: s, toS: s + lasts, drives, idles });
    s += lasts;
  };
  for (let day = 0; day < days; day++) {
    add(day * DAY_S + random.between(5.5, 7) * HOUR_S - s, false);
    const endS = day * DAY_S + random.between(17, 20) * HOUR_S;
    while (s < endS) {
      add(random.between(0.8, 3) * HOUR_S, true);
      if (s < endS) add(random.between(1200, 4200), false, random.next() < 0.3);
    }
  }
  add(days * DAY_S - s, false);
  add(QUIET_S, false);
  return legs;
}

/** What happens to the fuel, decided leg by leg, so that the tank never runs dry or over. */
class Happenings {
  readonly flows: Flow[] = [];
  readonly gaps: Gap[] = [];
  /** With seconds for milliseconds. */
  readonly truths: TankTruth[] = [];
  readonly #random: Random;
  readonly #tankL: number;
  readonly #thresholdL: number;

  constructor(random: Random, tankL: number, thresholdL: number) {
    this.#random = random;
    this.#tankL = tankL;
    this.#thresholdL = thresholdL;
  }

  begin({ fromS, toS, drives }: Leg, levelL: number): void {
    const random = this.#random;
    const lastsS = toS - fromS;
    if (lastsS < 900) return;
    const dice = random.next();
    if (drives) {
      if (dice < 0.08 && levelL > this.#tankL * 0.4 && lastsS > 5400) {
        const fromDrainS = fromS + random.between(1800, lastsS - 3600);
        this.#drain('theft driving', fromDrainS, random.between(400, 1200), random.between(2, 5) * this.#thresholdL);
      }
      return;
    }
    if (levelL < this.#tankL * 0.4) {
      const volumeL = random.between(0.6, 0.95) * (this.#tankL * 0.95 - levelL);
      const fillS = volumeL / random.between(0.6, 1.5);
      const fromFillS = fromS + random.between(150, Math.max(200, lastsS - fillS - 240));
      this.#refuel(fromFillS, fillS, volumeL, random.next() < 0.15);
    } else if (dice < 0.12) {
      const volumeL = Math.min(levelL * 0.6, random.between(1.4, 10) * this.#thresholdL);
      const drainS = volumeL / random.between(0.05, 0.2);
      if (drainS > lastsS - 1600) return;
      const fromDrainS = fromS + random.between(900, lastsS - drainS - 600);
      this.#drain(random.next() < 0.2 ? 'theft unseen' : 'theft parked', fromDrainS, drainS, volumeL);
    } else if (dice < 0.2 && lastsS > 6 * HOUR_S) {
      const leakS = random.between(0.4, 0.7) * lastsS;
      const fromLeakS = fromS + random.between(1800, lastsS - leakS - 1800);
      this.#drain('leak', fromLeakS, leakS, random.between(1.8, 4) * this.#thresholdL);
    } else if (dice < 0.3) this.#drain('theft parked', fromS + 600, 120, random.between(0.1, 0.4) * this.#thresholdL);
    else if (dice < 0.4) this.#refuel(fromS + 600, 30, random.between(0.1, 0.4) * this.#thresholdL, false);
    else if (dice < 0.5 && levelL < this.#tankL * 0.7) {
      const volumeL = Math.min(random.between(1.6, 8) * this.#thresholdL, this.#tankL * 0.95 - levelL);
      this.#refuel(fromS + random.between(150, lastsS - 500), 60, volumeL, false);
    }
  }

  #refuel(fromS: number, lastsS: number, volumeL: number, isUnseen: boolean): void {
    this.#flow('refuelling', isUnseen ? 'refuelling unseen' : 'refuelling', fromS, lastsS, volumeL);
  }

  #drain(how: TankTruth['how'], fromS: number, lastsS: number, volumeL: number): void {
    this.#flow('fuel-drain', how, fromS, lastsS, volumeL);
  }

  #flow(kind: TankTruth['kind'], how: TankTruth['how'], fromS: number, lastsS: number, volumeL: number): void {
    const from = Math.round(fromS / STEP_S) * STEP_S;
    const lasts = Math.max(STEP_S, Math.round(lastsS / STEP_S) * STEP_S);
    const to = from + lasts;
    const sign = kind === 'refuelling' ? 1 : -1;
    this.flows.push({ fromS: from, toS: to, litresPerS: (sign * volumeL) / lasts });
    if (how.endsWith('unseen')) this.gaps.push({ fromS: from - 200, toS: to + 300 });
    if (volumeL >= this.#thresholdL) this.truths.push({ kind, how, startedAtMs: from, endedAtMs: to, volumeL });
  }
}
