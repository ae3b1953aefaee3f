import { en as names } from '@outrider/words/en';
import { counted } from '../counted.ts';

/** What a notification says. */
export const alerts = {
  alarmNames: names.alarms as Record<string, string>,
  aDriver: 'A driver',
  licenceOf: (driver: string, isExpired: boolean, date: string) =>
    `${driver}: driving licence ${isExpired ? 'expired' : 'expires soon'}, last day ${date}`,
  missed: (count: number) =>
    `Connected again. ${counted('en', count, { one: '# notification came', other: '# notifications came' })} meanwhile.`,
};
