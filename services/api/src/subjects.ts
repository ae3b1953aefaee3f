import { countedAs } from '@outrider/auth';
import type { Context } from 'hono';
import type { ApiEnv, Identity } from './context.ts';
import type { Subject } from './limits.ts';

/** What the limits of an address count by. */
export function ipOf(c: Context<ApiEnv>): Subject {
  return `ip:${countedAs(c.get('arrival').address)}`;
}

/** What the limits of an account count by; null: the caller is unknown. */
export function userOf(identity: Identity): Subject | null {
  return 'caller' in identity ? `user:${identity.caller.id}` : null;
}
