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
    summary: 'list lost parts of the archive that could not be restored',
    async run({ client, isJson, terminal }) {
      const { items } = await (await client()).get('/api/v1/operator/archive-gaps');
      const lines = isJson ? [JSON.stringify(items, null, 2)] : tableOf(COLUMNS, items);
      for (const line of lines) terminal.print(line);
    },
  },
  {
    name: 'archive accept',
    summary: 'accept the loss of a part: warnings stop, but reports still show it as missing',
    operands: ['ID'],
    async run({ operands: { ID: id = '' }, client, terminal }) {
      await (await client()).post('/api/v1/operator/archive-gaps/accept', { body: { id } });
      terminal.note(`accepted: ${id}`);
    },
  },
];
