import { counted } from '../counted.ts';
import type { finder as english } from '../en/finder.ts';

export const finder: typeof english = {
  placeholder: 'Vehículo, lugar, conductor, informe, pantalla',
  none: 'No se encontró nada',
  groups: {
    vehicles: 'Vehículos',
    geofences: 'Geocercas',
    drivers: 'Conductores',
    groups: 'Grupos',
    reports: 'Informes',
    screens: 'Pantallas',
    actions: 'Acciones',
  },
  actions: {
    vehicle: 'Añadir un vehículo',
    importVehicles: 'Importar vehículos de un archivo CSV',
    group: 'Añadir un grupo',
    driver: 'Añadir un conductor',
    assign: 'Asignar un conductor',
    user: 'Añadir un usuario',
    rule: 'Añadir una regla de avisos',
    plan: 'Añadir un plan de mantenimiento',
    video: 'Solicitar un vídeo',
    light: 'Tema claro',
    dark: 'Tema oscuro',
    auto: 'Tema del sistema',
  },
  trackOf: (name) => `Recorrido de ${name}`,
  eventsOf: (name) => `Eventos de hoy de ${name}`,
  settingsOf: (name) => `Ajustes de ${name}`,
  more: (count) => `${counted('es', count, { one: '# más', other: '# más' })}: siga escribiendo`,
  found: (count) => counted('es', count, { one: '# resultado', other: '# resultados' }),
};
