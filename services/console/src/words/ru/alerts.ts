import { ru as names } from '@outrider/words/ru';
import { counted } from '../counted.ts';
import type { alerts as english } from '../en/alerts.ts';

export const alerts: typeof english = {
  alarmNames: names.alarms,
  missed: (count) =>
    `Связь восстановлена. За это время: ${counted('ru', count, { one: '# уведомление', few: '# уведомления', many: '# уведомлений', other: '# уведомления' })}.`,
};
