import { counted } from '../counted.ts';
import type { Words } from '../en.ts';

export const parts: Words['parts'] = {
  changedMeanwhile: 'Inzwischen hat jemand anders dies geändert. Nichts wurde gespeichert.',
  mine: 'Ihre Fassung',
  theirs: 'Andere Fassung',
  takeTheirs: 'Andere Fassung übernehmen',
  keepMine: 'Eigene Fassung behalten',
  chooseRow: 'Diese Zeile auswählen',
  chooseAll: 'Alle Zeilen auswählen',
  chooseNone: 'Auswahl aufheben',
  nothingChosen: 'Nichts ausgewählt',
  noneFound: 'Nichts gefunden',
  chosen: (count: number) => counted('de', count, { one: '# ausgewählt', other: '# ausgewählt' }),
  showMore: 'Mehr anzeigen',
  interval: 'Zeitraum',
  ownInterval: 'Von … bis …',
  from: 'Von',
  to: 'Bis',
  presets: {
    today: 'Heute',
    yesterday: 'Gestern',
    last7days: 'Letzte 7 Tage',
    thisWeek: 'Diese Woche',
    lastWeek: 'Letzte Woche',
    thisMonth: 'Dieser Monat',
    lastMonth: 'Letzter Monat',
    last30days: 'Letzte 30 Tage',
  },
  jobStates: {
    queued: 'Wartet',
    running: 'Läuft',
    done: 'Fertig',
    failed: 'Fehlgeschlagen',
    cancelled: 'Abgebrochen',
  },
};
