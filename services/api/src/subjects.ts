import { countedAs } from '@outrider/auth';
import type { Context } from 'hono';
import type { ApiEnv, Identity, KnownIdentity } from './context.ts';
import type { Subject } from './http/limits.ts';

/** What the limits of an address count by. */
export function ipOf(c: Context<ApiEnv>): Subject {
  return `ip:${countedAs(c.get('arrival').address)}`;
}

/** What the limits of an account count by; null: the caller is unknown, or came with an API key. */
export function userOf(identity: Identity): Subject | null {
  return 'caller' in identity && identity.via !== 'api-key' ? `user:${identity.caller.id}` : null;
}

/** What the limits of an API key count by; null: the caller has none. */
export function apiKeyOf(identity: Identity): Subject | null {
  return 'caller' in identity && identity.via === 'api-key' ? `api-key:${identity.apiKeyId}` : null;
}

/** What a known caller is counted and blocked by. */
export function subjectOf(identity: KnownIdentity): Subject {
  return identity.via === 'api-key' ? `api-key:${identity.apiKeyId}` : `user:${identity.caller.id}`;
}
