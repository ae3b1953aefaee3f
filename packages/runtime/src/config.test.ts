import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ConfigError, describeConfig, needed, oneOf, port, readConfig, secret, text, textOr, whole } from './config.ts';

const variables = {
  PORT: port(8080, 'REST'),
  DATA_DIR: textOr('./data', 'files'),
  DATABASE_URL: text('PostgreSQL'),
  ADMIN_PASSWORD: secret('first login'),
  LOG_LEVEL: oneOf(['debug', 'info'], 'info', 'how much is said'),
  BLOCK_SECONDS: whole(1, 3600, 60, 'length of a block'),
};

test('what is unset or empty takes its fallback', () => {
  expect(readConfig(variables, { PORT: '' })).toEqual({
    PORT: 8080,
    DATA_DIR: './data',
    DATABASE_URL: null,
    ADMIN_PASSWORD: null,
    LOG_LEVEL: 'info',
    BLOCK_SECONDS: 60,
  });
});

test('every unusable variable is named with what it should be', () => {
  const read = () => readConfig(variables, { PORT: '99999', LOG_LEVEL: 'loud', BLOCK_SECONDS: '1.5' });
  expect(read).toThrow(ConfigError);
  expect(read).toThrow(/PORT must be a whole number from 0 to 65535, not "99999"/);
  expect(read).toThrow(/LOG_LEVEL must be one of debug, info, not "loud"/);
  expect(read).toThrow(/BLOCK_SECONDS/);
});

test('a secret is never described', () => {
  const config = readConfig(variables, { ADMIN_PASSWORD: 'hunter2' });
  expect(JSON.stringify(describeConfig(variables, config))).not.toContain('hunter2');
  expect(describeConfig(variables, config).ADMIN_PASSWORD).toBe('(set)');
});

test('settings that contradict each other are named together with those that can not be read', () => {
  const both = {
    ...variables,
    ADMIN_PASSWORD: needed('ADMIN_PASSWORD', variables.ADMIN_PASSWORD, 'nobody could log in'),
    BLOCK_SECONDS: {
      ...variables.BLOCK_SECONDS,
      conflict: ({ BLOCK_SECONDS: seconds, PORT: port }: Readonly<Record<string, unknown>>) =>
        Number(seconds) === Number(port) ? `BLOCK_SECONDS must not be PORT, ${port}` : null,
    },
  };
  const problemsOf = (environment: Record<string, string>) => {
    try {
      readConfig(both, environment);
      return [];
    } catch (error) {
      return (error as ConfigError).problems;
    }
  };
  expect(problemsOf({ ADMIN_PASSWORD: 'x' })).toEqual([]);
  expect(problemsOf({ PORT: '60', LOG_LEVEL: 'loud' })).toEqual([
    'LOG_LEVEL must be one of debug, info, not "loud"',
    'ADMIN_PASSWORD must be set: nobody could log in',
    'BLOCK_SECONDS must not be PORT, 60',
  ]);
  // What could not be read is compared with nothing.
  expect(problemsOf({ PORT: '60', BLOCK_SECONDS: '0', ADMIN_PASSWORD: 'x' })).toHaveLength(1);
});

const folder = mkdtempSync(join(tmpdir(), 'outrider-config-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (text: string) => {
  const path = join(folder, 'secret');
  writeFileSync(path, text);
  return path;
};

test('a secret is read from the file that is named for it; an empty one counts as unset', () => {
  expect(readConfig(variables, { ADMIN_PASSWORD_FILE: file('hunter2\n') }).ADMIN_PASSWORD).toBe('hunter2');
  expect(readConfig(variables, { ADMIN_PASSWORD_FILE: file('\n') }).ADMIN_PASSWORD).toBeNull();
});

test('a file that is not there, or beside the secret itself, is a problem that names no secret', () => {
  const missing = () => readConfig(variables, { ADMIN_PASSWORD_FILE: join(folder, 'missing'), PORT: 'x' });
  expect(missing).toThrow(/ADMIN_PASSWORD_FILE must be a file that can be read: .*missing/);
  expect(missing).toThrow(/PORT must be/);
  const both = () => readConfig(variables, { ADMIN_PASSWORD_FILE: file('hunter2'), ADMIN_PASSWORD: 'hunter3' });
  expect(both).toThrow(/ADMIN_PASSWORD must not be set where ADMIN_PASSWORD_FILE is$/m);
});

test('only secrets are read from files', () => {
  expect(readConfig(variables, { PORT_FILE: file('8081') }).PORT).toBe(8080);
});
