import { addSecretsKey, backingOf, keepNewestSecretsKey, openRegistry } from '@outrider/backing';
import { StartError } from '@outrider/runtime';
import type { Command } from '../command.ts';
import { openDataDir } from '../data-dir.ts';

/**
 * `outrider rotate-secrets`: encrypts the secrets in the registry with another key. If the key is the file of an
 * embedded registry, a new key is made and the old one removed. Otherwise the first key of the settings is the new one.
 *
 * @throws {StartError} when the arguments are invalid, or the keys can't be used; {DataDirError} when an embedded
 * registry is in use
 */
export const runRotateSecrets: Command = async (words, config, logger, print) => {
  const forgetLostSecrets = words[0] === '--forget-lost';
  if (words.length > (forgetLostSecrets ? 1 : 0))
    throw new StartError('it is: rotate-secrets, or: rotate-secrets --forget-lost');
  // An embedded registry may only be used by one process: a running service would continue with the old key.
  const dataDir = config.DATABASE_URL === null ? openDataDir(config.DATA_DIR) : null;
  try {
    const isOwnFile = dataDir !== null && config.SECRETS_KEY === null && config.SECRETS_KEY_FILE === null;
    // The file has both keys until everything is encrypted again: a killed command can be repeated.
    if (isOwnFile) print(`new key: ${(await addSecretsKey(dataDir.path)).added}`);
    const registry = await openRegistry(backingOf(config, dataDir?.path ?? null), logger, { forgetLostSecrets });
    try {
      print(`secrets sealed with the first key: ${await registry.rotateSecrets()}`);
    } finally {
      await registry.close();
    }
    if (isOwnFile) await keepNewestSecretsKey(dataDir.path);
    print(
      isOwnFile
        ? 'older keys are removed'
        : 'older keys can be removed from the settings once all services have the new one',
    );
    return 0;
  } finally {
    dataDir?.release();
  }
};
