import { EVENT_KINDS, type EventKind, WORKER_EVENT_KINDS } from '@outrider/domain';
import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { expect } from 'vitest';
import { play, scenario } from './scenario.fixture.ts';

/** Of all files together. */
const RUNS = Number(process.env.ORACLE_RUNS ?? runs(10_000));
const FILES = 2;

/** Made of the levels of tanks: they are held against the truth of such data (`fuel/`). */
const OF_TANKS: ReadonlySet<EventKind> = new Set(['refuelling', 'fuel-drain']);

/**
 * This file's share of the runs, from a seed that is printed: the same seed is the same scenarios.
 *
 * @param file 0 or 1
 */
export function compareWithOracle(file: number): void {
  const seed = Number(process.env.ORACLE_SEED ?? Math.floor(Math.random() * 2 ** 31)) + file;
  const numRuns = Math.ceil(RUNS / FILES);
  console.info(`${numRuns} scenarios, seed ${seed}`);
  const reported = new Map<EventKind, number>();
  let runs = 0;
  fc.assert(
    fc.property(scenario, (steps) => {
      play(steps, reported);
      runs++;
    }),
    { numRuns, seed },
  );
  expect(runs).toBe(numRuns);
  // Scenarios in which nothing happens would prove nothing.
  for (const kind of EVENT_KINDS)
    if (!WORKER_EVENT_KINDS.has(kind) && !OF_TANKS.has(kind))
      expect(reported.get(kind) ?? 0, kind).toBeGreaterThan(numRuns / 10);
}
