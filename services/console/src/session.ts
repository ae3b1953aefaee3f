import { ApiError, Client, ConnectionError, type Credentials, type User } from '@outrider/client';
import { signal } from '@preact/signals';
import { isPushed } from './installed/pushed.ts';

/** Undefined: not known yet; null: nobody is logged in. */
export const user = signal<User | null | undefined>(undefined);
/** Why there is no user, by the problem that a call was answered with. */
const SESSION_ENDS: Readonly<Record<string, 'ended' | 'blocked' | 'expired'>> = {
  'urn:outrider:problem:not-authorized': 'ended',
  'urn:outrider:problem:account-blocked': 'blocked',
  'urn:outrider:problem:account-expired': 'expired',
};
export type SessionEnd = (typeof SESSION_ENDS)[string];
/** Null: nobody was logged in, or logged out. */
export const sessionEnd = signal<SessionEnd | null>(null);
/** The service was not reached when the page started. */
export const startError = signal<unknown>(null);

/** Unix milliseconds at which the API takes calls of this account again, where it was called too often. */
export const limitedUntilMs = signal(0);
const LONGEST_WAIT_S = 60;

/** The API by the cookie of the session: no token is known to scripts. */
export const api = new Client({
  onLimit: (seconds) => {
    limitedUntilMs.value = Math.max(limitedUntilMs.peek(), Date.now() + seconds * 1000);
    return seconds <= LONGEST_WAIT_S;
  },
  onError: (error) => {
    const end = SESSION_ENDS[error.problem.type];
    if (end !== undefined) onUnauthorized(end);
  },
});

function onUnauthorized(end: SessionEnd): void {
  const before = user.peek();
  // A page that is opened has seen no session end, but may have the one of an account that is blocked.
  if (before || (before === undefined && end !== 'ended')) sessionEnd.value = end;
  user.value = null;
}

/** Asks who is logged in. */
export async function refreshUser(): Promise<void> {
  startError.value = null;
  try {
    user.value = await api.get('/api/v1/me');
    keepPush();
  } catch (error) {
    // `onUnauthorized` has taken note of an ended session.
    if (!(error instanceof ApiError && error.status === 401) && !user.peek()) startError.value = error;
  }
}

/**
 * @param factor the second one: a code, or what a passkey signed
 * @throws {ApiError} with wrong credentials, without a second factor where one is needed, or after too many attempts
 */
export async function logIn(
  login: string,
  password: string,
  factor: Pick<Credentials, 'totp' | 'passkey'> = {},
): Promise<void> {
  await api.post('/auth/login', { body: { login, password, ...factor } });
  await enter();
}

/** Goes on with the session that was begun. */
export async function enter(): Promise<void> {
  sessionEnd.value = null;
  user.value = await api.get('/api/v1/me');
  keepPush();
}

const push = () => import('./installed/push.ts');

/** Where this browser takes push messages: those of this account, and of no other. */
function keepPush(): void {
  const id = user.peek()?.id;
  if (id !== undefined && isPushed()) void push().then(({ keepTo }) => keepTo(id).catch(() => {}));
}

export async function logOut(): Promise<void> {
  if (isPushed()) await (await push()).turnOffOnLogOut().catch(() => {});
  try {
    await api.post('/auth/logout');
  } catch (error) {
    // The session may be over already; without a connection the cookie stays, and so does the user.
    if (error instanceof ConnectionError) throw error;
  }
  sessionEnd.value = null;
  user.value = null;
}
