import { es as names } from '@outrider/words/es';
import { counted } from '../counted.ts';
import type { alerts as english } from '../en/alerts.ts';

export const alerts: typeof english = {
  alarmNames: names.alarms,
  missed: (count) =>
    `Conectado de nuevo. Mientras tanto ${counted('es', count, { one: 'llegó # aviso', other: 'llegaron # avisos' })}.`,
};
