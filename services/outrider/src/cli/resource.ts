import type { Client } from '@outrider/client';
import { type CliCommand, type Invocation, UsageError } from './command.ts';
import { type Column, tableOf } from './table.ts';

const PAGE = 1000;

/** A resource that the API lists, adds, changes and deletes. */
export interface Resource {
  /** Name in commands, such as `vehicles`. */
  name: string;
  /** Singular for people. */
  noun: string;
  path: string;
  /** Columns of the table. */
  columns: readonly Column[];
}

/** The commands that all resources have. */
export function resourceCommands({ name, noun, path, columns }: Resource): CliCommand[] {
  const show = ({ isJson, terminal }: Invocation, item: unknown) => {
    for (const line of isJson ? [JSON.stringify(item, null, 2)] : tableOf(columns, [item])) terminal.print(line);
  };
  return [
    {
      name: `${name} list`,
      summary: `list ${name}`,
      options: {
        q: { value: 'TEXT', summary: 'only those with this in a name or number' },
        sort: { value: 'FIELD', summary: 'sort by it; -FIELD: downwards' },
        'external-id': { value: 'ID', summary: 'only the one with this external id' },
        attribute: { value: 'NAME:VALUE', summary: 'only those with this custom attribute', isList: true },
      },
      async run(invocation) {
        const { options, isJson, terminal } = invocation;
        const { 'external-id': externalId, ...others } = options;
        const items = await allOf(await invocation.client(), path, { ...others, externalId });
        for (const line of isJson ? [JSON.stringify(items, null, 2)] : tableOf(columns, items)) terminal.print(line);
      },
    },
    {
      name: `${name} get`,
      summary: `show a ${noun}`,
      operands: ['ID'],
      async run(invocation) {
        show(invocation, await callJson(invocation, 'get', `${path}/{id}`));
      },
    },
    {
      name: `${name} add`,
      summary: `add a ${noun} from JSON, in the format of the API`,
      operands: ['JSON'],
      async run(invocation) {
        show(invocation, await callJson(invocation, 'post', path));
      },
    },
    {
      name: `${name} change`,
      summary: `change a ${noun} by a JSON merge patch`,
      operands: ['ID', 'JSON'],
      async run(invocation) {
        show(invocation, await callJson(invocation, 'patch', `${path}/{id}`));
      },
    },
    {
      name: `${name} delete`,
      summary: `delete a ${noun}`,
      operands: ['ID'],
      async run(invocation) {
        await callJson(invocation, 'delete', `${path}/{id}`);
        invocation.terminal.note(`deleted ${invocation.operands.ID}`);
      },
    },
  ];
}

async function callJson(
  { operands, client }: Invocation,
  method: 'get' | 'post' | 'patch' | 'delete',
  path: string,
): Promise<unknown> {
  const { ID: id, JSON: text } = operands;
  const body = text === undefined ? undefined : parsed(text);
  const response = await (await client()).send(method, path, {
    ...(id === undefined ? {} : { path: { id } }),
    ...(body === undefined ? {} : { body }),
  });
  return response.status === 204 ? null : response.json();
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`JSON is not valid: ${(error as Error).message}`);
  }
}

/** All items of a paginated list. */
async function allOf(client: Client, path: string, query: Record<string, unknown>): Promise<unknown[]> {
  const all: unknown[] = [];
  const read = async (cursor: string | undefined) => {
    const response = await client.send('get', path, { query: { limit: PAGE, ...query, cursor } });
    return (await response.json()) as { items: unknown[]; nextCursor: string | null };
  };
  for await (const items of client.pages(read)) all.push(...items);
  return all;
}
