import { counted } from '../../counted.ts';

export const groups = {
  newGroup: 'Neue Gruppe',
  none: 'Noch keine Gruppen',
  noneHint: 'Eine Gruppe sagt, wer welche Fahrzeuge sieht: nehmen Sie Fahrzeuge auf und geben Sie Personen Zugang.',
  nothingFound: 'Keine Gruppe passt',
  searchGroups: 'Name einer Gruppe',
  saved: 'Die Gruppe wurde gespeichert.',
  deleted: 'Die Gruppe wurde gelöscht.',
  deleteQuestion: (name: string, vehicles: number) =>
    `„${name}“ löschen? Sie wird ihren ${vehicles} Fahrzeugen, Personen und Gebieten genommen. Die Fahrzeuge bleiben.`,
  vehicles: 'Fahrzeuge der Gruppe',
  people: 'Personen mit Zugang',
  addVehicles: 'Fahrzeuge aufnehmen',
  addPeople: 'Zugang geben',
  remove: (name: string) => `${name} entfernen`,
  add: 'Hinzufügen',
  noVehicles: 'Keine Fahrzeuge in dieser Gruppe',
  noPeople: 'Niemand hat durch diese Gruppe Zugang; Betreiber und ihr Händler sehen sie ohnehin.',
  peopleAdded: (count: number) =>
    counted('de', count, { one: '# Person hat nun Zugang.', other: '# Personen haben nun Zugang.' }),
  vehiclesAdded: (count: number) =>
    counted('de', count, { one: '# Fahrzeug wurde aufgenommen.', other: '# Fahrzeuge wurden aufgenommen.' }),
  removed: (name: string) => `${name} wurde entfernt.`,
  gone: 'Diese Gruppe gibt es nicht, oder Sie dürfen sie nicht mehr sehen.',
  showVehicles: 'In der Fahrzeugliste zeigen',
};
