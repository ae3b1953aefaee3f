import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);

/** Imports a module as a thread does when it starts, and prints the packages of all modules that came with it. */
const PROGRAM = `
  import { registerHooks } from 'node:module';
  const packages = new Set();
  registerHooks({
    load(url, context, next) {
      const [, name] = /.*\\/(?:node_modules|packages|services)\\/((?:@[^/]+\\/)?[^/]+)\\//.exec(url) ?? [];
      if (name !== undefined) packages.add(name);
      return next(url, context);
    },
  });
  // Outside a thread, the entry of one fails after its imports.
  await import(process.env.ENTRY).catch((error) => {
    if (!/runs in a worker thread only/.test(error.message)) throw error;
  });
  process.stdout.write(JSON.stringify([...packages]));
`;

async function packagesOf(entry: string): Promise<string[]> {
  const url = pathToFileURL(join(import.meta.dirname, entry)).href;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
    cwd: import.meta.dirname,
    env: { ...process.env, ENTRY: url },
  });
  return JSON.parse(stdout) as string[];
}

/** Clients of servers, and what few services use: each thread would have a copy of them. */
const WHEN_NEEDED = [
  ...['ioredis', 'pg', '@clickhouse/client', 'kafkajs', '@aws-sdk/client-s3', 'chdb', 'openid-client'],
  ...['mediabunny', 'nodemailer', 'web-push', 'mqtt-packet', '@zxcvbn-ts/language-common'],
];

test.each([
  ['../../gateway/src/service.ts', 'protocols', [...WHEN_NEEDED, 'kysely', 'registry', 'warehouse', 'ws']],
  ['../../rules/src/service.ts', 'engine', [...WHEN_NEEDED, 'kysely', 'registry', 'warehouse', 'ws']],
  ['../../reporter/src/service.ts', 'reports', WHEN_NEEDED],
  ['outrider.ts', 'api', [...WHEN_NEEDED, 'simulator', 'client']],
])(
  '%s is started with %s, and without what it may never need',
  async (entry, needed, whenNeeded) => {
    const packages = await packagesOf(entry);
    expect(packages).toContain(needed);
    expect(packages.filter((name) => whenNeeded.includes(name))).toEqual([]);
  },
  60_000,
);
