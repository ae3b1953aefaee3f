import { en as names } from '@outrider/words/en';
import { counted } from '../counted.ts';

/** Texts of notifications. */
export const alerts = {
  alarmNames: names.alarms as Record<string, string>,
  missed: (count: number) =>
    `Connected again. ${counted('en', count, { one: '# notification came', other: '# notifications came' })} meanwhile.`,
};
