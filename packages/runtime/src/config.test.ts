import { expect, test } from 'vitest';
import { ConfigError, describeConfig, oneOf, port, readConfig, secret, text, textOr, whole } from './config.ts';

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
