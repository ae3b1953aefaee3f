import { counted } from '../counted.ts';
import type { Words } from '../en.ts';

export const parts: Words['parts'] = {
  changedMeanwhile: 'Entretanto otra persona lo ha cambiado. No se ha guardado nada.',
  mine: 'Lo suyo',
  theirs: 'Lo de la otra persona',
  takeTheirs: 'Tomar lo de la otra persona',
  keepMine: 'Mantener lo mío',
  chooseRow: 'Elegir esta fila',
  chooseAll: 'Elegir todas las filas',
  chooseNone: 'No elegir nada',
  nothingChosen: 'Nada elegido',
  noneFound: 'Sin resultados',
  chosen: (count: number) => counted('es', count, { one: '# elegido', other: '# elegidos' }),
  showMore: 'Mostrar más',
  interval: 'Intervalo',
  ownInterval: 'De … a …',
  from: 'Desde',
  to: 'Hasta',
  presets: {
    today: 'Hoy',
    yesterday: 'Ayer',
    last7days: 'Últimos 7 días',
    thisWeek: 'Esta semana',
    lastWeek: 'La semana pasada',
    thisMonth: 'Este mes',
    lastMonth: 'El mes pasado',
    last30days: 'Últimos 30 días',
  },
  jobStates: {
    queued: 'En espera',
    running: 'En curso',
    done: 'Terminado',
    failed: 'Fallido',
    cancelled: 'Cancelado',
  },
};
