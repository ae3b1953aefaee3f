import { DiskBusyError, DiskFullError, eventsTopic, LogFullError } from '@outrider/log';
import { expect, test } from 'vitest';
import { appendAll } from './append-all.ts';

/** A log that fails with these first, and what it took. */
function logThat(...failures: Error[]) {
  const taken: unknown[] = [];
  const append = async (_: unknown, records: unknown) => {
    const failure = failures.shift();
    if (failure) throw failure;
    taken.push(...(records as readonly unknown[]));
  };
  return { taken, append };
}

const records = Array.from({ length: 2500 }, (_, nth) => nth as never);

test('a log that is full, or its disk, is waited for; nothing is left out and nothing comes twice', async () => {
  const log = logThat(new LogFullError('much waits'), new DiskFullError('no room'), new DiskBusyError('no answer'));
  let waits = 0;
  await appendAll(log, eventsTopic, records, () => waits++);
  expect(log.taken).toEqual(records);
  expect(waits).toBe(3);
});

test('any other failure is one', async () => {
  await expect(appendAll(logThat(new Error('broken')), eventsTopic, records, () => {})).rejects.toThrow('broken');
});
