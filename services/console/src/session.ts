import { ApiError, ConnectionError, type Credentials } from '@outrider/client';
import { signal } from '@preact/signals';
import { api, sessionEnd, user } from './api.ts';
import { isPushed } from './installed/pushed.ts';

export { api, limitedUntilMs, type SessionEnd, sessionEnd, user } from './api.ts';

/** The service was not reached when the page started. */
export const startError = signal<unknown>(null);

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
