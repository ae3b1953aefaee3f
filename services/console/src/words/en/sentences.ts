import { en as names } from '@outrider/words/en';
import { en as words } from '@outrider/words/sentences/en';

/** Texts of sentences about events, as in messages: see `eventSentence`. */
export const sentences = {
  words,
  names: { alarms: names.alarms, events: names.events, values: names.values },
};
