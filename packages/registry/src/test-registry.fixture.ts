import { afterEach, beforeEach } from 'vitest';
import type { Registry } from './index.ts';

/** A registry on an empty database, and a way to open the same database again. */
export interface Place {
  open(now: () => number): Promise<Registry>;
  remove(): Promise<void>;
}

/** The registry of the current test, and its clock, which tests move. */
export interface TestRegistry {
  registry: Registry;
  nowMs: number;
  /** Opens the same database a second time; the caller closes it. */
  open(): Promise<Registry>;
  /** Closes the registry, and opens it on the same database. */
  reopen(): Promise<void>;
}

/** The clock at the beginning of each test. */
export const START_MS = Date.UTC(2026, 0, 15, 12);

/** Opens a registry on an empty database before each test of a suite, and closes it after the test. */
export function registryPerTest(newPlace: () => Promise<Place>): TestRegistry {
  let place: Place;
  const test: TestRegistry = {
    registry: null as never,
    nowMs: START_MS,
    open: () => place.open(() => test.nowMs),
    async reopen() {
      await test.registry.close();
      test.registry = await test.open();
    },
  };
  beforeEach(async () => {
    test.nowMs = START_MS;
    place = await newPlace();
    test.registry = await test.open();
  });
  afterEach(async () => {
    await test.registry.close();
    await place.remove();
  });
  return test;
}
