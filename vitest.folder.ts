import { join } from 'node:path';
import { useFastFolder } from '@outrider/testing/folder';

/** Runs once, before the workers start and inherit `TMPDIR` and `NODE_COMPILE_CACHE`. */
export default () => {
  // The threads and processes of tests load the same modules many times.
  process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/node');
  return useFastFolder();
};
