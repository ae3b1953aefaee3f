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
 * Has the caller show that they know their password: a token that was stolen does not.
 *
 * @param current undefined where it was not given
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
  if (current === undefined) throw badField('/currentPassword', 'It is needed for the own account.');
  // Guesses with a token are slowed down by themselves: they shall not slow down logins.
  const attempt = { account: `password of ${id}`, source: sessionId, isKnownSource: false };
  const isCurrent = await brake.pass(attempt, async () => {
    const known = await registry.users.authenticate(login, current);
    return known?.id === id ? known : null;
  });
  if (isCurrent !== null) return;
  await registry.audit.noteFailedLogin(login, 'wrong current password', caller);
  throw wrongPassword('/currentPassword');
}
