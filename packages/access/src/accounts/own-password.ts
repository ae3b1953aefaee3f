import type { SessionId, User } from '@outrider/domain';
import type { Registry } from '@outrider/registry';
import { badField, wrongPassword } from '../problem.ts';
import { requirePerson } from '../rights.ts';
import type { LoginBrake } from './login-brake.ts';

export interface OwnPasswordSources {
  registry: Pick<Registry, 'users' | 'audit'>;
  brake: LoginBrake;
}

/**
 * Requires the caller's own password, which the holder of a stolen token does not know.
 *
 * @param current undefined if it was not given
 * @throws {Problem} at the field `/currentPassword`; guesses are slowed down
 */
export async function requireOwnPassword(
  caller: User,
  { registry, brake }: OwnPasswordSources,
  current: string | undefined,
  sessionId: SessionId,
): Promise<void> {
  requirePerson(caller);
  const { id, login } = caller;
  if (current === undefined) throw badField('/currentPassword', 'It is required for your own account.');
  // Guesses with a token have their own counter, so that they do not slow down logins.
  const attempt = { account: `password of ${id}`, source: sessionId, isKnownSource: false };
  const isCurrent = await brake.pass(attempt, async () => {
    const known = await registry.users.authenticate(login, current);
    return known?.id === id ? known : null;
  });
  if (isCurrent !== null) return;
  await registry.audit.noteFailedLogin(login, 'wrong current password', caller);
  throw wrongPassword('/currentPassword');
}
