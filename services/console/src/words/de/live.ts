import { counted } from '../counted.ts';
import type { live as english } from '../en/live.ts';

export const live = {
  title: 'Vom Paket zur Karte',
  none: 'In der letzten Minute kam keine Position, oder die Karte zeigt nicht jede einzeln.',
  of: (count: number) =>
    counted('de', count, {
      one: '# Position in der letzten Minute, 99 von 100 innerhalb von',
      other: '# Positionen in der letzten Minute, 99 von 100 innerhalb von',
    }),
  stages: { service: 'Dienst', network: 'Netz', page: 'Diese Seite' },
  median: 'Die Hälfte innerhalb von',
  hint: 'Vom Eintreffen des Pakets eines Terminals bis zum Bild, das seine Position zeigt.',
} satisfies typeof english;
