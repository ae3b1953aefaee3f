import { ApiError, ConnectionError, type Credentials } from '@outrider/client';
import { signal } from '@preact/signals';
import { api, sessionEnd, user } from './api.ts';
import { isPushed } from './installed/pushed.ts';

export { api, limitedUntilMs, type SessionEnd, sessionEnd, user } from './api.ts';

/** Set if the service was unavailable when the page started. */
export const startError = signal<unknown>(null);

/** Loads the logged-in user. */
export async function refreshUser(): Promise<void> {
  startError.value = null;
  try {
    user.value = await api.get('/api/v1/me');
    keepPush();
  } catch (error) {
    // `onUnauthorized` has already handled an ended session.
    if (!(error instanceof ApiError && error.status === 401) && !user.peek()) startError.value = error;
  }
}

/**
 * @param factor the second factor: a code, or the signature of a passkey
 * @throws {ApiError} with wrong credentials, without a required second factor, or after too many attempts
 */
export async function logIn(
  login: string,
  password: string,
  factor: Pick<Credentials, 'totp' | 'passkey'> = {},
): Promise<void> {
  await api.post('/auth/login', { body: { login, password, ...factor } });
  await enter();
}

/** Continues with a newly created session. */
export async function enter(): Promise<void> {
  sessionEnd.value = null;
  user.value = await api.get('/api/v1/me');
  keepPush();
}

const push = () => import('./installed/push.ts');

/** If this browser receives push messages, makes them those of this account only. */
function keepPush(): void {
  const id = user.peek()?.id;
  if (id !== undefined && isPushed()) void push().then(({ keepTo }) => keepTo(id).catch(() => {}));
}

export async function logOut(): Promise<void> {
  if (isPushed()) await (await push()).turnOffOnLogOut().catch(() => {});
  try {
    await api.post('/auth/logout');
  } catch (error) {
    // The session may be over already. Without a connection the cookie stays, so the user stays logged in.
    if (error instanceof ConnectionError) throw error;
  }
  sessionEnd.value = null;
  user.value = null;
}
