import { type Variables, whole } from '@outrider/runtime';

/** Environment variables of `npm run demo`. */
export const demoVariables = {
  DEMO_HISTORY_DAYS: whole(0, 31, 7, 'Days of history that `npm run demo` makes at its first start in a folder.'),
} satisfies Variables;

/** The demo's fleet starts this long after the service, even if the history is not processed by then. */
export const HISTORY_PATIENCE_MS = 120_000;
