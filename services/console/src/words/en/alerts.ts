import { en as names } from '@outrider/words/en';
import { counted } from '../counted.ts';

/** Texts of notifications. */
export const alerts = {
  alarmNames: names.alarms as Record<string, string>,
  missed: (count: number) =>
    `Reconnected. ${counted('en', count, { one: '# notification', other: '# notifications' })} arrived in the meantime.`,
};
