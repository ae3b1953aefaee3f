import { ru as names } from '@outrider/words/ru';
import { ru as words } from '@outrider/words/sentences/ru';
import type { sentences as en } from '../en/sentences.ts';

export const sentences: typeof en = {
  words,
  names: { alarms: names.alarms, events: names.events, values: names.values },
};
