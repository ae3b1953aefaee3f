import type { CounterWords } from '../../en/fleet/counters.ts';

/** Words of custom counters; they come with the dialog, not with the first load. */
export const counters: CounterWords = {
  newTitle: 'Neuer Zähler',
  change: 'Zähler ändern',
  sources: {
    manual: 'Abgelesene Werte',
    'sensor-total': 'Summe, die ein Sensor anzeigt',
    'sensor-hours': 'Stunden, in denen ein Sensor an ist',
  },
  source: 'Gezählt nach',
  sourceHint: 'Bei einer Änderung bleibt das Gezählte erhalten.',
  sensor: 'Sensor',
  sensorGone: 'ein gelöschter Sensor',
  noSensor: 'Das Fahrzeug hat keinen passenden Sensor: zuerst einen anlegen.',
  unit: 'Einheit',
  startsAt: 'Zählt ab',
  startsAtHint: 'Leer: ab jetzt. Ein früherer Zeitpunkt zählt, was seitdem gespeichert ist.',
  saved: 'Der Zähler wurde gespeichert.',
  deleted: 'Der Zähler wurde gelöscht.',
  remove: (name: string) => `„${name}“ löschen? Seine Korrekturen werden mit gelöscht.`,
  planCounter: 'Eigener Zähler',
  planCounterHint: 'Mit seinem Namen: Er gilt für jedes Fahrzeug, das einen Zähler dieses Namens hat.',
  planAmount: 'Nach dem Zähler',
};
