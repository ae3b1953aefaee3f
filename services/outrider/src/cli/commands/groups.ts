import { resourceCommands } from '../resource.ts';

export const groupCommands = resourceCommands({
  name: 'groups',
  noun: 'vehicle group',
  path: '/api/v1/vehicle-groups',
  columns: [
    ['ID', 'id'],
    ['NAME', 'name'],
    ['DEALER', 'dealerId'],
    ['EXTERNAL ID', 'externalId'],
  ],
});
