import { counted } from '../counted.ts';
import type { live as english } from '../en/live.ts';

export const live = {
  title: 'Del paquete al mapa',
  none: 'En el último minuto no llegó ninguna posición, o el mapa no las muestra una a una.',
  of: (count: number) =>
    counted('es', count, {
      one: '# posición en el último minuto, 99 de cada 100 en',
      other: '# posiciones en el último minuto, 99 de cada 100 en',
    }),
  stages: { service: 'Servicio', network: 'Red', page: 'Esta página' },
  median: 'La mitad en',
  hint: 'Desde que llega el paquete de un terminal hasta la imagen que muestra su posición.',
} satisfies typeof english;
