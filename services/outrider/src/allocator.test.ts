import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ALLOCATOR_SETTINGS } from './allocator.ts';

const run = promisify(execFile);
const ALLOCATOR = pathToFileURL(join(import.meta.dirname, 'allocator.ts')).href;
/** Prints its number of the process and its allocator settings, before and after a restart. */
const PROGRAM = `
  import { ALLOCATOR_SETTINGS, restartWithAllocatorSettings } from ${JSON.stringify(ALLOCATOR)};
  import { writeSync } from 'node:fs';
  const settings = Object.keys(ALLOCATOR_SETTINGS).map((name) => process.env[name] ?? null);
  writeSync(1, JSON.stringify({ pid: process.pid, given: process.env.GIVEN, settings }) + '\\n');
  restartWithAllocatorSettings(process.env.COMMAND);
`;

let program: string;
beforeAll(async () => {
  program = join(await mkdtemp(join(tmpdir(), 'allocator-')), 'program.mjs');
  await writeFile(program, PROGRAM);
});
afterAll(() => rm(dirname(program), { recursive: true }));

async function starts(env: Record<string, string>): Promise<{ pid: number; given: string; settings: unknown[] }[]> {
  const { stdout } = await run(process.execPath, [program], { env: { GIVEN: 'kept', ...env } });
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

describe.skipIf(process.platform !== 'linux')('the allocator settings', () => {
  const wanted = Object.values(ALLOCATOR_SETTINGS);
  const none = wanted.map(() => null);

  test.each(['start', 'demo'])('of %s are set by one restart as the same process', async (command) => {
    const [first, second, ...more] = await starts({ COMMAND: command });
    expect(first?.settings).toEqual(none);
    expect(second).toEqual({ pid: first?.pid, given: 'kept', settings: wanted });
    expect(more).toEqual([]);
  });

  test('that somebody has set are left as they are', async () => {
    expect(await starts({ COMMAND: 'start', MALLOC_ARENA_MAX: '1' })).toMatchObject([{ settings: ['1', null, null] }]);
  });

  test('are nothing to other commands', async () => {
    expect(await starts({ COMMAND: 'backup' })).toMatchObject([{ settings: none }]);
  });
});

test('the image has the same settings', async () => {
  const image = await readFile(join(import.meta.dirname, '../../../Dockerfile'), 'utf8');
  for (const [name, value] of Object.entries(ALLOCATOR_SETTINGS)) expect(image).toContain(`${name}=${value}`);
});
