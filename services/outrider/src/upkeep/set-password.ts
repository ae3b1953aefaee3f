import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { weaknessOf } from '@outrider/access';
import { MIN_PASSWORD_CHARACTERS } from '@outrider/api';
import { backingOf, openRegistry } from '@outrider/backing';
import { StartError } from '@outrider/runtime';
import type { Terminal } from '../cli/command.ts';
import type { Command } from '../command.ts';
import { DataDirError, openDataDir } from '../data-dir.ts';

/**
 * `outrider users set-password LOGIN`: changes an account's password directly in the registry, without a login. All
 * sessions of the account end, and the change is recorded in the audit trail.
 *
 * @param terminal is asked for the password if `OUTRIDER_PASSWORD` is not set
 * @throws {StartError} when the account does not exist, or the password is too short or easily guessed; {DataDirError}
 * when an embedded registry is in use, or does not exist
 */
export function setPasswordCommand(terminal: Pick<Terminal, 'env' | 'ask'>): Command {
  return async (words, config, logger, print) => {
    const [login, ...others] = words;
    if (login === undefined || others.length > 0) throw new StartError('it is: users set-password LOGIN');
    const path = join(resolve(config.DATA_DIR), 'registry.sqlite');
    if (config.DATABASE_URL === null && !existsSync(path))
      throw new DataDirError(`there are no accounts at ${path}: the first start of the service makes the operator’s`);
    // An embedded registry may only be used by one process.
    const dataDir = config.DATABASE_URL === null ? openDataDir(config.DATA_DIR) : null;
    try {
      const registry = await openRegistry(backingOf(config, dataDir?.path ?? null), logger);
      try {
        const user = await registry.users.byLogin(login);
        if (user === null) throw new StartError(`no account has the login ${login}`);
        const password = terminal.env.OUTRIDER_PASSWORD ?? (await terminal.ask(`New password of ${login}: `));
        if (password.length < MIN_PASSWORD_CHARACTERS)
          throw new StartError(`a password has ${MIN_PASSWORD_CHARACTERS} characters or more`);
        const weakness = weaknessOf(password, [user.login, user.name]);
        if (weakness !== null) throw new StartError(weakness);
        await registry.users.setPassword(user.id, password, null);
        print(`${login} has another password; its sessions are over`);
      } finally {
        await registry.close();
      }
      return 0;
    } finally {
      dataDir?.release();
    }
  };
}
