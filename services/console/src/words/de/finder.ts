import { counted } from '../counted.ts';
import type { finder as english } from '../en/finder.ts';

export const finder: typeof english = {
  placeholder: 'Fahrzeug, Ort, Fahrer, Bericht, Seite',
  none: 'Nichts gefunden',
  groups: {
    vehicles: 'Fahrzeuge',
    geofences: 'Gebiete',
    drivers: 'Fahrer',
    groups: 'Gruppen',
    reports: 'Berichte',
    screens: 'Seiten',
    actions: 'Aktionen',
  },
  actions: {
    vehicle: 'Fahrzeug anlegen',
    importVehicles: 'Fahrzeuge aus einer CSV-Datei importieren',
    group: 'Gruppe anlegen',
    driver: 'Fahrer anlegen',
    assign: 'Fahrer zuweisen',
    user: 'Benutzer anlegen',
    rule: 'Meldungsregel anlegen',
    plan: 'Wartungsplan anlegen',
    video: 'Video anfordern',
    light: 'Helles Design',
    dark: 'Dunkles Design',
    auto: 'Design des Systems',
  },
  trackOf: (name) => `Fahrtverlauf von ${name}`,
  eventsOf: (name) => `Heutige Ereignisse von ${name}`,
  settingsOf: (name) => `Einstellungen von ${name}`,
  more: (count) => `${counted('de', count, { one: '# weiterer', other: '# weitere' })}: tippen Sie weiter`,
  found: (count) => counted('de', count, { one: '# Treffer', other: '# Treffer' }),
};
