import type { protection as en } from '../../en/accounts/protection.ts';

export const protection = {
  title: 'Datenschutz',
  export: 'Daten exportieren',
  exportMine: 'Meine Daten exportieren',
  exportHint:
    'Alles, was der Dienst über diese Person speichert, als eine JSON-Datei. Sie bleibt einige Tage erhalten.',
  exporting: 'Die Datei wird erstellt',
  exportFailed: 'Die Datei wurde nicht erstellt',
  save: 'Datei speichern',
  again: 'Neu erstellen',
  retentionDays: 'Vergangenes behalten (Tage)',
  retentionHint:
    'Ältere Positionen, Ereignisse, Videos und Benachrichtigungen ihrer Fahrzeuge werden täglich endgültig gelöscht. Leer: keine Grenze. Bei mehreren Gruppen und der Flotte zählt die kürzeste Zeit.',
  fleetDays: 'Vergangenes der Flotte behalten (Tage)',
  fleetHint:
    'Ältere Positionen, Ereignisse, Videos und Benachrichtigungen aller Fahrzeuge dieses Händlers werden täglich endgültig gelöscht. Leer: keine Grenze. Behält eine Gruppe eines Fahrzeugs sie kürzer, zählt die Gruppe.',
  operatorFleetHint:
    'Ältere Positionen, Ereignisse, Videos und Benachrichtigungen aller Fahrzeuge ohne Händler werden täglich endgültig gelöscht. Es gilt für alle Betreiber. Leer: keine Grenze. Behält eine Gruppe eines Fahrzeugs sie kürzer, zählt die Gruppe.',
  saveFleetDays: 'Aufbewahrung speichern',
  fleetDaysSaved: 'Aufbewahrung gespeichert',
  erase: 'Vergangenes löschen',
  eraseHint:
    'Positionen, Ereignisse, Videos und Benachrichtigungen von vor diesem Tag werden endgültig gelöscht. Zählerstände bleiben.',
  before: 'Vor',
  count: 'Zählen',
  counted: (positions: string, events: string, videos: string, notifications: string) =>
    `${positions} Positionen, ${events} Ereignisse, ${videos} Videos, ${notifications} Benachrichtigungen`,
  nothing: 'Von vor diesem Tag ist nichts gespeichert.',
  eraseQuestion: (day: string) => `Alles von vor ${day} löschen? Das lässt sich nicht rückgängig machen.`,
  historyFrom: (time: string) => `Was vor ${time} war, ist bei mindestens einem dieser Fahrzeuge gelöscht.`,
  incomplete: (from: string, to: string) =>
    `Daten von ${from} bis ${to} gingen verloren: was davon gezeigt wird, ist unvollständig.`,
} satisfies typeof en;
