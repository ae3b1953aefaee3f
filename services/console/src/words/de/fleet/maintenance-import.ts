import type { MaintenanceImportWords } from '../../en/fleet/maintenance-import.ts';

export const maintenanceImport: MaintenanceImportWords = {
  readings: 'Zählerstände',
  plansHint:
    'Eine CSV-Datei mit Kopfzeile. Jede Zeile legt einen Plan für ein Fahrzeug oder eine Gruppe an, die eine der ersten Spalten nennt: alle so viele Kilometer, Motorstunden oder Tage.',
  readingsHint:
    'Eine CSV-Datei mit Kopfzeile. Jede Zeile sagt, was ein Zähler eines Fahrzeugs anzeigte: Kilometer, oder Stunden beim Zähler engine-hours. Ohne Zeitangabe gilt jetzt.',
  added: (count: string) => `Neu: ${count}.`,
};
