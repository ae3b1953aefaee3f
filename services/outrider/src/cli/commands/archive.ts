import type { CliCommand } from '../command.ts';
import { type Column, tableOf } from '../table.ts';

const COLUMNS: readonly Column[] = [
  ['ID', 'id'],
  ['FROM', 'from'],
  ['TO', 'to'],
  ['ROWS', 'rows'],
  ['VEHICLES', 'vehicles'],
  ['REASON', 'reason'],
  ['RESTORED', 'restored'],
  ['ACCEPTED', 'isAccepted'],
];

/** Commands about data that the archive has lost. */
export const archiveCommands: readonly CliCommand[] = [
  {
    name: 'archive gaps',
    summary: 'list the parts of the archive that were lost and could not be written again',
    async run({ client, isJson, terminal }) {
      const { items } = await (await client()).get('/api/v1/operator/archive-gaps');
      const lines = isJson ? [JSON.stringify(items, null, 2)] : tableOf(COLUMNS, items);
      for (const line of lines) terminal.print(line);
    },
  },
  {
    name: 'archive accept',
    summary: 'accept that a part is lost: nobody is warned of it any more, and reports say it all the same',
    operands: ['ID'],
    async run({ operands: { ID: id = '' }, client, terminal }) {
      await (await client()).post('/api/v1/operator/archive-gaps/accept', { body: { id } });
      terminal.note(`accepted: ${id}`);
    },
  },
];
