import { existsSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where Debian's package puts its library: a folder for each architecture. */
const LIBRARIES = '/usr/lib';
const LIBRARY = 'faketime/libfaketimeMT.so.1';

/** libfaketime, which stands between a process and the clock; null where it is not installed. */
export function faketimeLibrary(): string | null {
  if (!existsSync(LIBRARIES)) return null;
  const found = readdirSync(LIBRARIES)
    .map((name) => join(LIBRARIES, name, LIBRARY))
    .find((path) => existsSync(path));
  return found ?? null;
}

/** The wall clock of a process; how time passes (the monotonic clock) stays as it is. */
export interface Clock {
  /** What the process is to be started with. */
  readonly environment: Record<string, string>;
  /** Within a second it is so much later, or earlier, than it really is. */
  set(offsetSeconds: number): void;
}

/** A clock that is right until it is set. @param path a file of its own, which the process reads */
export function createClock(library: string, path: string): Clock {
  const clock: Clock = {
    environment: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: path,
      FAKETIME_CACHE_DURATION: '1',
      DONT_FAKE_MONOTONIC: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      // Times of files are those of the file system.
      NO_FAKE_STAT: '1',
    },
    set(offsetSeconds) {
      // Whole or not at all: it is read at any moment.
      writeFileSync(`${path}.new`, `${offsetSeconds < 0 ? '' : '+'}${offsetSeconds}\n`);
      renameSync(`${path}.new`, path);
    },
  };
  clock.set(0);
  return clock;
}
