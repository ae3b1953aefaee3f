import { transferCommands } from '../files.ts';
import { resourceCommands } from '../resource.ts';

const NAME = 'geofences';
const PATH = '/api/v1/geozones';

export const geofenceCommands = [
  ...resourceCommands({
    name: NAME,
    noun: 'geofence',
    path: PATH,
    columns: [
      ['ID', 'id'],
      ['NAME', 'properties.name'],
      ['SHAPE', 'properties.shape'],
      ['CATEGORY', 'properties.category'],
      ['EXTERNAL ID', 'properties.externalId'],
    ],
  }),
  ...transferCommands({ name: NAME, path: PATH, mediaType: 'application/geo+json', format: 'GeoJSON' }),
];
