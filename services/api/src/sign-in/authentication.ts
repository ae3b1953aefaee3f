import { type LoginBrake, Problem } from '@outrider/access';
import { type Arrival, countedAs, isTotpCode, type Tokens, totpStep } from '@outrider/auth';
import type { Directory, User, UserId } from '@outrider/domain';
import type { Hub } from '@outrider/hub';
import type { Registry } from '@outrider/registry';
import type { AccountBlock } from '../context.ts';
import type { Limits } from '../http/limits.ts';
import type { Authentication } from '../route.ts';
import { accountRefused } from '../routes/accounts/auth.ts';
import { PasskeySignIn, type SignedPasskey } from './passkey-sign-in.ts';

/** An attacker who guesses from a thousand addresses must not fill the disk. */
const MAX_FAILED_LOGINS_NOTED = 300;
const FAILED_LOGINS_WINDOW_MS = 60_000;
/** Within 15 minutes: at a thousand codes a day, guessing one of a million, three of which are valid, takes a year. */
const MAX_WRONG_CODES = 10;

/** Creates the functions of the login routes: check passwords, begin sessions, record failures. */
export function createAuthentication(parts: {
  config: { sessionTtlSeconds: number; openId?: { name: string } | null; publicUrl?: string | null };
  registry: Registry;
  directory: Directory;
  tokens: Tokens;
  hub: Hub;
  limits: Limits;
  brake: LoginBrake;
  now(): number;
  wait(ms: number): Promise<void>;
}): Authentication {
  const { config, registry, directory, tokens, hub, limits, brake, now, wait } = parts;
  const passkeys = new PasskeySignIn(registry, tokens, config.publicUrl ?? null);
  /** Null: the code is wrong or already used. */
  async function useCode(user: User, code: string): Promise<true | null> {
    if (!isTotpCode(code)) return (await registry.secondFactors.useRecoveryCode(user.id, code)) || null;
    const secret = await registry.secondFactors.secret(user.id);
    const step = secret === null ? null : totpStep(secret, code, now());
    return (step !== null && (await registry.secondFactors.use(user.id, step))) || null;
  }

  async function passPasskey(user: User, signed: SignedPasskey, arrival: Arrival): Promise<void> {
    const checked = await passkeys.check(signed, arrival);
    if ('userId' in checked && checked.userId === user.id) return;
    const reason = 'refused' in checked ? checked.refused : 'passkey of another account';
    await noteFailedLogin(user.login, reason, arrival);
    throw refused('wrong-second-factor', 'The passkey does not belong to this account, or its signature is not valid.');
  }

  async function noteFailedLogin(login: string, reason: string, { address }: Arrival): Promise<void> {
    const { hits } = await hub.hit('audit:failed-logins', FAILED_LOGINS_WINDOW_MS, now());
    if (hits > MAX_FAILED_LOGINS_NOTED) return;
    const user = await registry.users.byLogin(login);
    await registry.as({ user: null, sessionId: null, address }).audit.noteFailedLogin(login, reason, user);
  }

  async function accountBlock(id: UserId): Promise<AccountBlock> {
    const expiresAtMs = await registry.users.expiryOf(id);
    return expiresAtMs !== null && expiresAtMs <= now() ? 'account-expired' : 'account-blocked';
  }

  return {
    async authenticate(account, password, { address }) {
      const source = countedAs(address);
      const isKnownSource = await registry.sessions.knowsSource(account, source);
      return brake.pass({ account, source, isKnownSource }, () => registry.users.authenticate(account, password));
    },
    async passSecondFactor(user, { totp: code, passkey }, arrival) {
      if ((await registry.secondFactors.get(user.id)) === null) return;
      if (passkey !== undefined) return passPasskey(user, passkey, arrival);
      if (code === undefined)
        throw refused('second-factor-needed', 'Send a code of the second factor in `totp`, or a passkey.');
      const source = countedAs(arrival.address);
      const isKnownSource = await registry.sessions.knowsSource(user.login, source);
      const attempt = {
        account: `second factor of ${user.id}`,
        source,
        isKnownSource,
        // Recovery codes are too long to be guessed, so they stay usable while an attacker guesses short codes.
        ...(isTotpCode(code) && { maxFailures: MAX_WRONG_CODES }),
      };
      if ((await brake.pass(attempt, () => useCode(user, code))) !== null) return;
      await noteFailedLogin(user.login, 'wrong code of the second factor', arrival);
      throw refused('wrong-second-factor', 'The code is wrong, or was already used.');
    },
    passkeys,
    async authenticatePasskey(signed, arrival) {
      const checked = await passkeys.check(signed, arrival);
      const user = 'userId' in checked ? directory.users.get(checked.userId) : undefined;
      if (user === undefined) {
        await noteFailedLogin('passkey', 'refused' in checked ? checked.refused : 'deleted', arrival);
        throw refused('wrong-passkey', 'The passkey is unknown, or its signature is not valid.');
      }
      await this.refuseBlockedAccount(user, arrival);
      await this.refuseBlocked(user);
      return user;
    },
    sessions: registry.sessions,
    async beginSession(user, { address }, userAgent) {
      const { sessions } = registry.as({ user, sessionId: null, address });
      await sessions.noteSource(user.id, countedAs(address));
      return sessions.create(user.id, config.sessionTtlSeconds * 1000, address, userAgent);
    },
    noteFailedLogin,
    accountBlock,
    async refuseBlockedAccount(user, arrival) {
      if (!user.blocked) return;
      await noteFailedLogin(user.login, 'blocked', arrival);
      throw accountRefused(await accountBlock(user.id));
    },
    tokens,
    passwordReset: { registry, directory, tokens },
    openIdName: config.openId?.name ?? null,
    wait,
    sessionTtlMs: config.sessionTtlSeconds * 1000,
    user: (id) => directory.users.get(id),
    refuseBlocked: (user) => limits.refuseBlocked(`user:${user.id}`),
  };
}

function refused(kind: 'second-factor-needed' | 'wrong-second-factor' | 'wrong-passkey', detail: string): Problem {
  return new Problem(kind, detail, { headers: { 'www-authenticate': 'JWT realm="outrider"' } });
}
