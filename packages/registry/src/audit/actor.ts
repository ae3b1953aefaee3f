import type { ApiKeyId, SessionId, User } from '@outrider/domain';

/** Who makes a change, from where, and by which session or API key: what the audit trail says of it. */
export interface Actor {
  /** Null: an unknown person, or the service itself. */
  user: Pick<User, 'id' | 'login' | 'role' | 'dealerId'> | null;
  sessionId: SessionId | null;
  /** The API key that the change was made with, if any. */
  apiKeyId?: ApiKeyId | null;
  /** IP address; null where the change came over no connection. */
  address: string | null;
}

/** The service itself, and its command line. */
export const SERVICE: Actor = { user: null, sessionId: null, address: null };
