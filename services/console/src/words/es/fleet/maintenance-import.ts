import type { MaintenanceImportWords } from '../../en/fleet/maintenance-import.ts';

export const maintenanceImport: MaintenanceImportWords = {
  readings: 'Lecturas de contadores',
  plansHint:
    'Un archivo CSV con encabezado. Cada fila crea un plan para un vehículo o un grupo, indicado en una de las primeras columnas: cada tantos kilómetros, horas de motor o días.',
  readingsHint:
    'Un archivo CSV con encabezado. Cada fila indica lo que mostraba un contador de un vehículo: kilómetros, u horas si el contador es engine-hours. Sin hora, es ahora.',
  added: (count: string) => `Nuevos: ${count}.`,
};
