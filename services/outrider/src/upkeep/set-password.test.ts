import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureAdmin } from '@outrider/api';
import { backingOf, openRegistry } from '@outrider/backing';
import { createLogger, readConfig } from '@outrider/runtime';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { variables } from '../config.ts';
import { openDataDir } from '../data-dir.ts';
import { setPasswordCommand } from './set-password.ts';

const logger = createLogger('silent', 'json');
const OLD = 'seven green lamps';
const NEW = 'nine wooden bridges';

let folder: string;
const config = () => readConfig(variables, { DATA_DIR: folder });
const opened = () => openRegistry(backingOf(config(), folder), logger);
const run = async (password: string, ...words: string[]) => {
  const lines: string[] = [];
  const command = setPasswordCommand({ env: {}, ask: async () => password });
  await command(words, config(), logger, (line) => lines.push(line));
  return lines;
};
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'outrider-password-'));
  openDataDir(folder).release();
  const registry = await opened();
  await ensureAdmin(registry, OLD, logger);
  await registry.close();
});
afterEach(() => rmSync(folder, { recursive: true }));

test('an account gets another password without a login: its sessions end, and the audit trail has it', async () => {
  let registry = await opened();
  const admin = await registry.users.authenticate('admin', OLD);
  if (admin === null) throw new Error('no operator');
  const session = await registry.sessions.create(admin.id, 60_000, '127.0.0.1', 'test');
  await registry.close();

  expect(await run(NEW, 'admin')).toEqual(['admin has another password; its sessions are over']);

  registry = await opened();
  expect(await registry.users.authenticate('admin', OLD)).toBeNull();
  expect(await registry.users.authenticate('admin', NEW)).toMatchObject({ id: admin.id });
  expect(await registry.sessions.get(session.id)).toBeNull();
  const { items } = await registry.audit.list({ action: 'password-changed' }, { limit: 10, after: null });
  expect(items).toMatchObject([{ subject: { id: admin.id, name: 'admin' } }]);
  await registry.close();
});

test.each([
  ['a login that nobody has', NEW, ['anna'], 'no account has the login anna'],
  ['a password that is too short', 'seven', ['admin'], '8 characters or more'],
  ['a password that is easily guessed', 'password1', ['admin'], 'attackers try first'],
  ['no login', NEW, [], 'it is: users set-password LOGIN'],
])('%s is refused, and the password stays', async (_, password, words, message) => {
  await expect(run(password, ...words)).rejects.toThrow(message);
  const registry = await opened();
  expect(await registry.users.authenticate('admin', OLD)).not.toBeNull();
  await registry.close();
});

test('a folder without a service is left alone', async () => {
  const other = join(folder, 'other');
  const command = setPasswordCommand({ env: {}, ask: async () => NEW });
  await expect(command(['admin'], readConfig(variables, { DATA_DIR: other }), logger, () => {})).rejects.toThrow(
    'no accounts at',
  );
  expect(existsSync(other)).toBe(false);
});

test('a later ADMIN_PASSWORD is said to be ignored where it is another, and never logged', async () => {
  const registry = await opened();
  const warn = vi.fn();
  const watched = { ...logger, warn } as unknown as typeof logger;
  await ensureAdmin(registry, OLD, watched);
  await ensureAdmin(registry, null, watched);
  expect(warn).not.toHaveBeenCalled();
  await ensureAdmin(registry, NEW, watched);
  expect(warn.mock.calls).toEqual([[expect.anything(), expect.stringContaining('ADMIN_PASSWORD is ignored')]]);
  expect(JSON.stringify(warn.mock.calls)).not.toContain(NEW);
  await registry.close();
});
