import { de as names } from '@outrider/words/de';
import { counted } from '../counted.ts';
import type { alerts as english } from '../en/alerts.ts';

export const alerts: typeof english = {
  alarmNames: names.alarms,
  missed: (count) =>
    `Wieder verbunden. Inzwischen ${counted('de', count, { one: 'kam # Meldung', other: 'kamen # Meldungen' })}.`,
};
