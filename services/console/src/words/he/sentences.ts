import { he as names } from '@outrider/words/he';
import { he as words } from '@outrider/words/sentences/he';
import type { sentences as en } from '../en/sentences.ts';

export const sentences: typeof en = {
  words,
  names: { alarms: names.alarms, events: names.events, values: names.values },
};
