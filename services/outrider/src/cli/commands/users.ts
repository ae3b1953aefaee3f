import { resourceCommands } from '../resource.ts';

export const userCommands = resourceCommands({
  name: 'users',
  noun: 'user',
  path: '/api/v1/users',
  columns: [
    ['ID', 'id'],
    ['LOGIN', 'login'],
    ['NAME', 'name'],
    ['ROLE', 'role'],
    ['BLOCKED', 'blocked'],
    ['EXTERNAL ID', 'externalId'],
  ],
});
