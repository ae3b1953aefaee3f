import { counted } from '../../counted.ts';

export const groups = {
  newGroup: 'Grupo nuevo',
  none: 'Aún no hay grupos',
  noneHint: 'Un grupo dice quién ve qué vehículos: meta vehículos y dé acceso a personas.',
  nothingFound: 'Ningún grupo coincide',
  searchGroups: 'Nombre de un grupo',
  saved: 'El grupo se ha guardado.',
  deleted: 'El grupo se ha eliminado.',
  deleteQuestion: (name: string, vehicles: number) =>
    `¿Eliminar «${name}»? Se quita de sus ${vehicles} vehículos, de personas y de geocercas. Los vehículos se quedan.`,
  vehicles: 'Vehículos del grupo',
  people: 'Personas con acceso',
  addVehicles: 'Añadir vehículos',
  addPeople: 'Dar acceso',
  remove: (name: string) => `Quitar ${name}`,
  add: 'Añadir',
  noVehicles: 'No hay vehículos en este grupo',
  noPeople: 'Nadie tiene acceso por este grupo; los operadores y su distribuidor lo ven igualmente.',
  peopleAdded: (count: number) =>
    counted('es', count, { one: '# persona tiene ahora acceso.', other: '# personas tienen ahora acceso.' }),
  vehiclesAdded: (count: number) =>
    counted('es', count, { one: 'Se ha añadido # vehículo.', other: 'Se han añadido # vehículos.' }),
  removed: (name: string) => `Se ha quitado ${name}.`,
  gone: 'Este grupo no existe, o ya no puede verlo.',
  showVehicles: 'Mostrar en la lista de vehículos',
};
