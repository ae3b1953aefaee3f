import { de as names } from '@outrider/words/de';
import { de as words } from '@outrider/words/sentences/de';
import type { sentences as en } from '../en/sentences.ts';

export const sentences: typeof en = {
  words,
  names: { alarms: names.alarms, events: names.events, values: names.values },
};
