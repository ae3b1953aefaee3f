import { transferCommands } from '../files.ts';
import { resourceCommands } from '../resource.ts';

const NAME = 'drivers';
const PATH = '/api/v1/drivers';

export const driverCommands = [
  ...resourceCommands({
    name: NAME,
    noun: 'driver',
    path: PATH,
    columns: [
      ['ID', 'id'],
      ['NAME', 'name'],
      ['PHONE', 'phone'],
      ['LICENCE', 'licence'],
      ['EXTERNAL ID', 'externalId'],
    ],
  }),
  ...transferCommands({ name: NAME, path: PATH, mediaType: 'text/csv', format: 'CSV' }),
];
