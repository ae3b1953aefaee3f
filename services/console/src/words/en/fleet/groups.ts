import { counted } from '../../counted.ts';

export const groups = {
  newGroup: 'New group',
  none: 'No groups yet',
  noneHint: 'A group defines who can see which vehicles. Add vehicles and give people access.',
  nothingFound: 'No group matches',
  searchGroups: 'Group name',
  saved: 'The group was saved.',
  deleted: 'The group was deleted.',
  deleteQuestion: (name: string, vehicles: number) =>
    `Delete “${name}”? It is removed from its ${vehicles} vehicles, from people and from geofences. The vehicles are kept.`,
  vehicles: 'Vehicles in the group',
  people: 'People with access',
  addVehicles: 'Add vehicles',
  addPeople: 'Give access',
  remove: (name: string) => `Remove ${name}`,
  add: 'Add',
  noVehicles: 'No vehicles in this group',
  noPeople: 'Nobody has access through this group. Operators and its dealer can still see it.',
  peopleAdded: (count: number) =>
    counted('en', count, { one: '# person was given access.', other: '# people were given access.' }),
  vehiclesAdded: (count: number) =>
    counted('en', count, { one: '# vehicle was added.', other: '# vehicles were added.' }),
  removed: (name: string) => `${name} was removed.`,
  gone: 'This group does not exist, or you may no longer see it.',
  showVehicles: 'Show in the list of vehicles',
};
