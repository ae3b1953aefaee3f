import type { protection as en } from '../../en/accounts/protection.ts';

export const protection = {
  title: 'Protección de datos',
  export: 'Exportar los datos',
  exportMine: 'Exportar mis datos',
  exportHint: 'Todo lo que el servicio guarda de esta persona, en un archivo JSON. Se conserva unos días.',
  exporting: 'El archivo se está creando',
  exportFailed: 'El archivo no se creó',
  save: 'Guardar el archivo',
  again: 'Crear de nuevo',
  retentionDays: 'Conservar el historial (días)',
  retentionHint:
    'Las posiciones, eventos, vídeos y avisos más antiguos de sus vehículos se borran para siempre, una vez al día. Vacío: sin límite. De varios grupos y la flota cuenta el plazo más corto.',
  fleetDays: 'Conservar el historial de la flota (días)',
  fleetHint:
    'Las posiciones, eventos, vídeos y avisos más antiguos de todos los vehículos de este distribuidor se borran para siempre, una vez al día. Vacío: sin límite. Si un grupo de un vehículo los conserva menos tiempo, cuenta el grupo.',
  operatorFleetHint:
    'Las posiciones, eventos, vídeos y avisos más antiguos de todos los vehículos sin distribuidor se borran para siempre, una vez al día. Vale para todos los operadores. Vacío: sin límite. Si un grupo de un vehículo los conserva menos tiempo, cuenta el grupo.',
  saveFleetDays: 'Guardar la conservación',
  fleetDaysSaved: 'Conservación guardada',
  erase: 'Borrar historial',
  eraseHint:
    'Las posiciones, eventos, vídeos y avisos anteriores a este día se borran para siempre. Los contadores se conservan.',
  before: 'Antes de',
  count: 'Contar',
  counted: (positions: string, events: string, videos: string, notifications: string) =>
    `${positions} posiciones, ${events} eventos, ${videos} vídeos, ${notifications} avisos`,
  nothing: 'No hay nada anterior a este día.',
  eraseQuestion: (day: string) => `¿Borrar todo lo anterior al ${day}? No se puede deshacer.`,
  historyFrom: (time: string) => `Lo anterior a ${time} está borrado en al menos uno de estos vehículos.`,
  incomplete: (from: string, to: string) =>
    `Se perdieron datos del ${from} al ${to}: lo que se muestra de entonces está incompleto.`,
} satisfies typeof en;
