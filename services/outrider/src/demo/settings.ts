import { type Variables, whole } from '@outrider/runtime';

/** Environment variables of `npm run demo`. */
export const demoVariables = {
  DEMO_HISTORY_DAYS: whole(0, 31, 7, 'Days of history that `npm run demo` generates at its first start in a folder.'),
} satisfies Variables;
