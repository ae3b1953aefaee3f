import { ApiError, Client, ConnectionError, type User } from '@outrider/client';
import { signal } from '@preact/signals';

/** Undefined: not known yet; null: nobody is logged in. */
export const user = signal<User | null | undefined>(undefined);
/** Why there is no user: a session that ended while the page was open. */
export const hasSessionEnded = signal(false);
/** The service was not reached when the page started. */
export const startError = signal<unknown>(null);

/** The API by the cookie of the session: no token is known to scripts. */
export const api = new Client({
  onError: (error) => {
    if (error.status === 401 && error.problem.type === 'urn:outrider:problem:not-authorized') onUnauthorized();
  },
});

function onUnauthorized(): void {
  if (user.peek()) hasSessionEnded.value = true;
  user.value = null;
}

/** Asks who is logged in. */
export async function refreshUser(): Promise<void> {
  startError.value = null;
  try {
    user.value = await api.get('/api/v1/me');
  } catch (error) {
    // `onUnauthorized` has taken note of an ended session.
    if (!(error instanceof ApiError && error.status === 401) && !user.peek()) startError.value = error;
  }
}

/** @throws {ApiError} with wrong credentials, or after too many attempts */
export async function logIn(login: string, password: string): Promise<void> {
  await api.post('/auth/login', { body: { login, password } });
  hasSessionEnded.value = false;
  user.value = await api.get('/api/v1/me');
}

export async function logOut(): Promise<void> {
  try {
    await api.post('/auth/logout');
  } catch (error) {
    // The session may be over already; without a connection the cookie stays, and so does the user.
    if (error instanceof ConnectionError) throw error;
  }
  hasSessionEnded.value = false;
  user.value = null;
}
