import type { LoginBrake } from '@outrider/access';
import { countedAs, type Tokens } from '@outrider/auth';
import type { Directory } from '@outrider/domain';
import type { Hub } from '@outrider/hub';
import type { Registry } from '@outrider/registry';
import type { Limits } from './limits.ts';
import type { Authentication } from './route.ts';

/** Who guesses from a thousand addresses must not fill the disk. */
const MAX_FAILED_LOGINS_NOTED = 300;
const FAILED_LOGINS_WINDOW_MS = 60_000;
/** What the login routes can do: check passwords, begin sessions, note failures. */
export function createAuthentication(parts: {
  config: { sessionTtlSeconds: number };
  registry: Registry;
  directory: Directory;
  tokens: Tokens;
  hub: Hub;
  limits: Limits;
  brake: LoginBrake;
  now(): number;
}): Authentication {
  const { config, registry, directory, tokens, hub, limits, brake, now } = parts;
  return {
    async authenticate(account, password, { address }) {
      const source = countedAs(address);
      const isKnownSource = await registry.sessions.knowsSource(account, source);
      return brake.pass({ account, source, isKnownSource }, () => registry.users.authenticate(account, password));
    },
    sessions: registry.sessions,
    async beginSession(user, { address }, userAgent) {
      const { sessions } = registry.as({ user, sessionId: null, address });
      await sessions.noteSource(user.id, countedAs(address));
      return sessions.create(user.id, config.sessionTtlSeconds * 1000, address, userAgent);
    },
    async noteFailedLogin(login, reason, { address }) {
      const { hits } = await hub.hit('audit:failed-logins', FAILED_LOGINS_WINDOW_MS, now());
      if (hits > MAX_FAILED_LOGINS_NOTED) return;
      const user = await registry.users.byLogin(login);
      await registry.as({ user: null, sessionId: null, address }).audit.noteFailedLogin(login, reason, user);
    },
    tokens,
    sessionTtlMs: config.sessionTtlSeconds * 1000,
    user: (id) => directory.users.get(id),
    refuseBlocked: (user) => limits.refuseBlocked(`user:${user.id}`),
  };
}
