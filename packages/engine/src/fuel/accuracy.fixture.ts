import { type FuelFinding, takeFuel } from './detector.ts';
import { freshFuelState } from './fuel-state.ts';
import { tankOf } from './tank.ts';
import { type TankRecord, type TankStory, type TankTruth, tankStory } from './tank-data.fixture.ts';

/** What was found of a story, beside the truth that it belongs to. */
export interface Comparison {
  /** Null: it never happened. */
  truth: TankTruth | null;
  /** Null: it was not found. */
  found: FuelFinding | null;
}

export interface Accuracy {
  truths: number;
  found: number;
  precision: number;
  recall: number;
  /** Volumes found over true volumes, of what was found, as a sum. */
  volumeRatio: number;
  /** Half of the volumes found are off by no more than this share. */
  medianVolumeError: number;
}

/** What is found begins or ends this close to what happened, or while it did. */
const NEAR_MS = 15 * 60_000;

export function findingsOf({ settings }: TankStory, records: readonly TankRecord[]): FuelFinding[] {
  const state = freshFuelState();
  const tank = tankOf(settings);
  const findings: FuelFinding[] = [];
  for (const record of records) takeFuel(state, tank, record, findings);
  return findings;
}

/** Holds what is found against the truth, one to one. */
export function compare(story: TankStory): Comparison[] {
  const rest = [...story.truths];
  const compared: Comparison[] = [];
  for (const found of findingsOf(story, story.records)) {
    const { kind, startedAtMs, endedAtMs } = found;
    if (endedAtMs === null) continue;
    const at = rest.findIndex(
      (truth) =>
        truth.kind === kind && truth.startedAtMs - NEAR_MS <= endedAtMs && truth.endedAtMs + NEAR_MS >= startedAtMs,
    );
    compared.push({ truth: at < 0 ? null : (rest.splice(at, 1)[0] as TankTruth), found });
  }
  for (const truth of rest) compared.push({ truth, found: null });
  return compared;
}

export function compareMany(seeds: readonly number[], days: number): Comparison[] {
  return seeds.flatMap((seed) => compare(tankStory(seed, days)));
}

export function accuracyOf(compared: readonly Comparison[]): Accuracy {
  const truths = compared.filter(({ truth }) => truth !== null).length;
  const found = compared.filter((each) => each.found !== null).length;
  let trueL = 0;
  let foundL = 0;
  const errors: number[] = [];
  for (const each of compared) {
    if (each.truth === null || each.found === null) continue;
    trueL += each.truth.volumeL;
    foundL += each.found.volumeL;
    errors.push(Math.abs(each.found.volumeL / each.truth.volumeL - 1));
  }
  return {
    truths,
    found,
    precision: errors.length / found,
    recall: errors.length / truths,
    volumeRatio: foundL / trueL,
    medianVolumeError: errors.toSorted((a, b) => a - b)[errors.length >> 1] ?? Number.NaN,
  };
}
