import { es as names } from '@outrider/words/es';
import { es as words } from '@outrider/words/sentences/es';
import type { sentences as en } from '../en/sentences.ts';

export const sentences: typeof en = {
  words,
  names: { alarms: names.alarms, events: names.events, values: names.values },
};
