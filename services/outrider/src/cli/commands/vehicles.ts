import type { CliCommand } from '../command.ts';
import { transferCommands } from '../files.ts';
import { resourceCommands } from '../resource.ts';

const NAME = 'vehicles';
const PATH = '/api/v1/vehicles';

export const vehicleCommands = [
  ...resourceCommands({
    name: NAME,
    noun: 'vehicle',
    path: PATH,
    columns: [
      ['ID', 'id'],
      ['NAME', 'name'],
      ['PLATE', 'plate'],
      ['TERMINAL', 'terminalId'],
      ['EXTERNAL ID', 'externalId'],
      ['SUSPENDED', 'suspension.reason'],
    ],
  }),
  ...suspensionCommands(),
  ...transferCommands({ name: NAME, path: PATH, mediaType: 'text/csv', format: 'CSV' }),
];

/** Hides the data of a vehicle from all but operators, and shows it again. */
function suspensionCommands(): CliCommand[] {
  return [
    {
      name: `${NAME} suspend`,
      summary: 'hide the data of a vehicle, with a reason that users see',
      operands: ['ID', 'REASON'],
      async run({ operands: { ID: id = '', REASON: reason = '' }, client, terminal }) {
        await (await client()).post(`${PATH}/{id}/suspend`, { path: { id }, body: { reason } });
        terminal.note(`suspended ${id}`);
      },
    },
    {
      name: `${NAME} resume`,
      summary: 'show the data of a suspended vehicle again',
      operands: ['ID'],
      async run({ operands: { ID: id = '' }, client, terminal }) {
        await (await client()).post(`${PATH}/{id}/resume`, { path: { id } });
        terminal.note(`resumed ${id}`);
      },
    },
  ];
}
