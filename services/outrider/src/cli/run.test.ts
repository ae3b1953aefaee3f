import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import type { Terminal } from './command.ts';
import { CLI_COMMANDS } from './commands.ts';
import { cliHelp, isCliCommand, runCli } from './run.ts';
import { tableOf } from './table.ts';

function terminal(): Terminal & { printed: string[]; noted: string[] } {
  const printed: string[] = [];
  const noted: string[] = [];
  return {
    ...{
      printed,
      noted,
      env: { OUTRIDER_KEY: 'key', OUTRIDER_URL: 'http://127.0.0.1:1', OUTRIDER_LOGIN_FILE: '/nowhere' },
    },
    print: (line) => printed.push(line),
    note: (line) => noted.push(line),
    ask: async () => '',
    signal: new AbortController().signal,
  };
}

test.each([
  [['vehicles', 'fly'], 'there is no such command: vehicles fly'],
  [['vehicles', 'get'], 'ID is missing'],
  [['vehicles', 'get', 'a', 'b'], 'there is too much: b'],
  [['vehicles', 'list', '--colour', 'red'], '--colour'],
  [['vehicles', 'import', 'x.csv', '--dry-run=maybe'], '--dry-run'],
  [['groups', 'add', '{"name"'], 'JSON is not valid'],
  [['users', 'retention', 'a', 'soon'], 'DAYS must be a number of days, or none'],
  [['feed', 'rumours'], 'FEED is one of events, positions'],
])('%j is refused with what is wrong and how it is called', async (words, why) => {
  const shown = terminal();
  expect(await runCli(words, shown)).toBe(2);
  expect(shown.printed).toEqual([]);
  expect(shown.noted.join('\n')).toContain(why);
  expect(shown.noted.join('\n')).toMatch(/usage: outrider|vehicles list/);
});

test('the help names every command once, and --help shows the options of one', async () => {
  const names = CLI_COMMANDS.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(cliHelp()).toContain(`  ${name}`);
  expect(['login', 'vehicles', 'events', 'start', 'fly'].map(isCliCommand)).toEqual([true, true, true, false, false]);
  const shown = terminal();
  expect(await runCli(['vehicles', 'import', '--help'], shown)).toBe(0);
  expect(shown.printed.join('\n')).toMatch(/usage: outrider vehicles import FILE[\s\S]*--dry-run/);
  const all = terminal();
  expect(await runCli(['vehicles', '--help'], all)).toBe(0);
  expect(all.printed.join('\n')).toContain('vehicles delete ID');
});

test('docs/command-line.md has the help', () => {
  const page = readFileSync(new URL('../../../../docs/command-line.md', import.meta.url), 'utf8');
  expect(page).toContain(`\`\`\`\n${cliHelp()}\`\`\`\n`);
});

test('a service that is not reached is a failure, and said as such', async () => {
  const shown = terminal();
  expect(await runCli(['vehicles', 'list'], shown)).toBe(1);
  expect(shown.noted.join('\n')).toContain('the service was not reached');
});

test('a command that is ended before its job says that the job goes on', async () => {
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ id: 'b7', kind: 'person-export', state: 'queued' }));
    if (request.method === 'GET') ending.abort();
  });
  const ending = new AbortController();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const shown = terminal();
    const asked = { ...shown, env: { ...shown.env, OUTRIDER_URL: url }, signal: ending.signal };
    expect(await runCli(['users', 'data', 'a1'], asked)).toBe(1);
    expect(shown).toMatchObject({ printed: [], noted: ['outrider: job b7 goes on without this command'] });
  } finally {
    server.close();
  }
});

test('a table is as wide as its values, and text of others writes nothing but text', () => {
  const columns = [['ID', 'id'] as const, ['NAME', 'properties.name'] as const, ['LAST', 'x'] as const];
  const items = [
    { id: '1', properties: { name: 'Yard\u001b[31m' } },
    { id: '22', properties: null, x: [1] },
  ];
  expect(tableOf(columns, items)).toEqual(['ID  NAME       LAST', '1   Yard [31m', '22             [1]']);
});
