/** Violations that cost points. */
export const ECO_VIOLATIONS = ['speeding', 'acceleration', 'braking', 'cornering', 'idling', 'over-revving'] as const;
export type EcoViolation = (typeof ECO_VIOLATIONS)[number];

/** Points per harsh manoeuvre, and per minute of a lasting violation. */
export type EcoWeights = Readonly<Record<EcoViolation, number>>;
/** Number of harsh manoeuvres, and number of minutes of lasting violations. */
export type EcoAmounts = Readonly<Record<EcoViolation, number>>;

export const DEFAULT_ECO_WEIGHTS = 'speeding=1, acceleration=2, braking=3, cornering=2, idling=0.2, over-revving=1';
export const MAX_ECO_WEIGHTS_LENGTH = 200;
const MAX_WEIGHT = 100;

/** A shorter trip is scored as one of this length: within a kilometre, a single violation would decide everything. */
export const LEAST_ECO_DISTANCE_M = 5000;

/**
 * Parses weights as people write them: `speeding=2, braking=5`. Violations that are not named keep their defaults; 0
 * excludes a violation.
 *
 * @throws {Error} with an explanation, when a name, a number or a sign is wrong
 */
export function readEcoWeights(text: string): EcoWeights {
  // The defaults name all violations.
  return { ...(weightsIn(DEFAULT_ECO_WEIGHTS) as EcoWeights), ...weightsIn(text) };
}

function weightsIn(text: string): Partial<Record<EcoViolation, number>> {
  const weights: Partial<Record<EcoViolation, number>> = {};
  for (const part of text.split(',')) {
    const [, named = '', number = ''] = /^\s*([a-z-]+)\s*=\s*(\d{1,3}(?:\.\d{1,3})?)\s*$/.exec(part) ?? [];
    if (named === '') throw new Error(`“${part.trim()}” must be a name, = and a number, such as speeding=2.`);
    const violation = ECO_VIOLATIONS.find((known) => known === named);
    if (violation === undefined)
      throw new Error(`There is no violation ${named}. The violations are ${ECO_VIOLATIONS.join(', ')}.`);
    if (weights[violation] !== undefined) throw new Error(`${named} is named twice.`);
    if (Number(number) > MAX_WEIGHT) throw new Error(`${named} may have ${MAX_WEIGHT} points at most.`);
    weights[violation] = Number(number);
  }
  return weights;
}

/** The points that each kind of violation costs. */
export function ecoPoints(amounts: EcoAmounts, weights: EcoWeights): EcoAmounts {
  const points = ECO_VIOLATIONS.map((violation) => [violation, amounts[violation] * weights[violation]]);
  return Object.fromEntries(points) as EcoAmounts;
}

/**
 * The score of a trip: 100 less its points per 100 km, and never below 0.
 *
 * @param points of all violations together
 */
export function ecoScore(points: number, distanceM: number): number {
  const per100Km = (points * 100_000) / Math.max(distanceM, LEAST_ECO_DISTANCE_M);
  return Math.max(0, 100 - per100Km);
}

/** Mean score of trips, weighted by distance; null without any distance. */
export class EcoMean {
  #weighted = 0;
  #distanceM = 0;

  add(score: number, distanceM: number): void {
    this.#weighted += score * distanceM;
    this.#distanceM += distanceM;
  }

  get score(): number | null {
    return this.#distanceM > 0 ? this.#weighted / this.#distanceM : null;
  }
}
