import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { openKeys, Tokens, watchKeys } from '@outrider/auth';
import type { Registry } from '@outrider/registry';
import type { Config, Logger } from '@outrider/runtime';
import type { accessVariables } from './access-variables.ts';

/** File in `DATA_DIR`, which instances share to accept each other's tokens. */
export const SIGNING_KEYS_FILE = 'signing-keys.json';

export interface OpenTokens {
  tokens: Tokens;
  /** Stops watching the keys. */
  close(): Promise<void>;
}

/**
 * Opens the tokens with the keys in `DATA_DIR`; a new key in the folder is noticed within seconds.
 *
 * @throws {Error} when the keys can't be read or created
 */
export async function openTokens(
  config: Config<typeof accessVariables>,
  registry: Pick<Registry, 'sessions' | 'apiKeys'>,
  logger: Logger,
  now: () => number,
): Promise<OpenTokens> {
  const lifetimes = { tokenSeconds: config.JWT_TTL_SECONDS, sessionSeconds: config.SESSION_TTL_SECONDS };
  await mkdir(config.DATA_DIR, { recursive: true });
  const file = join(config.DATA_DIR, SIGNING_KEYS_FILE);
  const keys = await openKeys(file, lifetimes);
  if (keys.isNew && (await registry.sessions.list(1, null)).length > 0)
    logger.warn({ file }, 'created new signing keys because they were missing: all users have to log in again');
  const close = watchKeys(keys, {
    onRotated: (kid) => logger.info({ kid }, 'signing key changed'),
    onError: (error) => logger.error({ err: error }, 'cannot reload the signing keys; keeping the old ones'),
  });
  const tokens = new Tokens({
    keys,
    ttlSeconds: config.JWT_TTL_SECONDS,
    refreshExpiredSeconds: config.REFRESH_EXPIRED_HOURS * 3600,
    now,
    sessionIsLive: async (sessionId) => (await registry.sessions.get(sessionId)) !== null,
    apiKey: (id) => registry.apiKeys.stored(id),
  });
  return { tokens, close };
}
