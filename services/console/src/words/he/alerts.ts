import { he as names } from '@outrider/words/he';
import { counted } from '../counted.ts';
import type { alerts as english } from '../en/alerts.ts';

export const alerts: typeof english = {
  alarmNames: names.alarms,
  missed: (count) =>
    `החיבור חודש. בינתיים ${counted('he', count, { one: 'הגיעה התראה אחת', other: 'הגיעו # התראות' })}.`,
};
