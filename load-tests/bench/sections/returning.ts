import { join } from 'node:path';
import { openSqliteLog } from '@outrider/log';
import { measureReturning, returningFigures } from '../returning/measure.ts';
import { defineSection } from '../section.ts';

/** All clients of the live API return at once, each with the cursor of what it saw last. */
export const section = defineSection({
  about: 'live clients that return at once with their cursors: time until they miss nothing, embedded',
  bare: 'the same messages, made beforehand, to as many WebSockets',
  run: (say, quick) =>
    measureReturning(
      'the embedded log',
      async (folder) => openSqliteLog({ path: join(folder, 'log.sqlite') }),
      say,
      quick,
    ),
  figures: returningFigures,
});
