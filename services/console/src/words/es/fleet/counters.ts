import type { CounterWords } from '../../en/fleet/counters.ts';

/** Words of custom counters; they come with the dialog, not with the first load. */
export const counters: CounterWords = {
  newTitle: 'Nuevo contador',
  change: 'Cambiar el contador',
  sources: {
    manual: 'Lecturas de personas',
    'sensor-total': 'El total que muestra un sensor',
    'sensor-hours': 'Horas con un sensor activado',
  },
  source: 'Se cuenta por',
  sourceHint: 'Si se cambia, lo contado se conserva.',
  sensor: 'Sensor del vehículo',
  sensorGone: 'un sensor eliminado',
  noSensor: 'El vehículo no tiene un sensor adecuado: añada uno primero.',
  unit: 'Unidad',
  startsAt: 'Cuenta desde',
  startsAtHint: 'Vacío: desde ahora. Una hora anterior cuenta lo guardado desde entonces.',
  saved: 'El contador se ha guardado.',
  deleted: 'El contador se ha eliminado.',
  remove: (name: string) => `¿Eliminar «${name}»? También se eliminan sus correcciones.`,
  planCounter: 'Contador propio',
  planCounterHint: 'Por su nombre: vale para cada vehículo que tenga un contador con este nombre.',
  planAmount: 'Según el contador',
};
