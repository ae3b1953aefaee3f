import { countedAs } from '@outrider/auth';
import type { Context } from 'hono';
import type { ApiEnv, Identity, KnownIdentity } from './context.ts';
import type { Subject } from './http/limits.ts';

/** Subject of the limits for an address. */
export function ipOf(c: Context<ApiEnv>): Subject {
  return `ip:${countedAs(c.get('arrival').address)}`;
}

/** Subject of the limits for an account; null: the caller is unknown, or uses an API key. */
export function userOf(identity: Identity): Subject | null {
  return 'caller' in identity && identity.via !== 'api-key' ? `user:${identity.caller.id}` : null;
}

/** Subject of the limits for an API key; null: the caller uses none. */
export function apiKeyOf(identity: Identity): Subject | null {
  return 'caller' in identity && identity.via === 'api-key' ? `api-key:${identity.apiKeyId}` : null;
}

/** Subject by which an authenticated caller is counted and blocked. */
export function subjectOf(identity: KnownIdentity): Subject {
  return identity.via === 'api-key' ? `api-key:${identity.apiKeyId}` : `user:${identity.caller.id}`;
}
