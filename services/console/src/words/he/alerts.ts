import { he as names } from '@outrider/words/he';
import { counted } from '../counted.ts';
import type { alerts as english } from '../en/alerts.ts';

export const alerts: typeof english = {
  alarmNames: names.alarms,
  aDriver: 'נהג',
  licenceOf: (driver: string, isExpired: boolean, date: string) =>
    `${driver}: רישיון הנהיגה ${isExpired ? 'פג' : 'עומד לפוג'}, יום אחרון ${date}`,
  missed: (count) =>
    `החיבור חודש. בינתיים ${counted('he', count, { one: 'הגיעה התראה אחת', other: 'הגיעו # התראות' })}.`,
};
