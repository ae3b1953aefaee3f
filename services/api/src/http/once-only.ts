import { Problem } from '@outrider/access';
import { SYSTEM_CLOCK } from '@outrider/domain';
import {
  AlreadyClaimedError,
  type Claim,
  type KeptAnswer,
  type Registry,
  type RepeatableRequest,
} from '@outrider/registry';
import type { Reply, Route } from '../route.ts';

/** Format of `Idempotency-Key`: visible ASCII, with or without quotes. */
const KEY = /^[\x21-\x7e]{1,255}$/;
const WAIT_MS = 50;
const MAX_WAITS = 20;
/** Names of fields whose values are secret. */
const SECRET_FIELD = /"\w*(?:password|secret)\w*":/i;

/** Whether the call creates or starts something, which a client that lost the response would create twice. */
export function isRepeatable({
  method,
  answers,
  answersSecret,
}: Pick<Route, 'method' | 'answers' | 'answersSecret'>): boolean {
  if (method !== 'post' || answersSecret) return false;
  return answers[201] !== undefined || answers[202]?.headers?.Location !== undefined;
}

/**
 * The key with which a client may repeat its request; null if it sends none.
 *
 * @throws {Problem} when the header can't be read
 */
export function idempotencyKey(header: string | undefined): string | null {
  if (header === undefined) return null;
  if (!KEY.test(header))
    throw new Problem('invalid-request', 'A parameter is not valid.', {
      errors: [{ parameter: 'Idempotency-Key', detail: 'It must be 1 to 255 visible ASCII characters.' }],
    });
  return header;
}

/** Identifying content of a request: its method and URL, and the validated body. */
export function contentOf(
  method: string,
  url: string,
  body: unknown,
): Pick<RepeatableRequest, 'content' | 'holdsSecret'> {
  const json = JSON.stringify(body) ?? '';
  const { pathname, search } = new URL(url);
  return { content: `${method} ${pathname}${search}\n${json}`, holdsSecret: SECRET_FIELD.test(json) };
}

/**
 * Executes a request once. A repeated request gets the stored answer; if another call is executing it, this one waits.
 *
 * @param make executes the request with a registry that takes the claim
 * @throws {Problem} when the key belongs to another request, or the answer does not arrive
 */
export async function onceOnly(
  { idempotency }: Pick<Registry, 'idempotency'>,
  request: RepeatableRequest,
  make: (claim: Claim) => Promise<Reply>,
): Promise<KeptAnswer> {
  for (let waits = 0; ; waits += 1) {
    const known = await idempotency.find(request);
    if (known === 'other')
      throw new Problem(
        'idempotency-mismatch',
        'This Idempotency-Key was used for another request. Use a new key for each new request.',
      );
    if (known === 'new') {
      try {
        const claim = await idempotency.claim(request);
        const { status, headers = {}, body, keptBody = body } = await make(claim);
        const answer = { status, headers, body: JSON.stringify(body) };
        if (claim.taken) await idempotency.answered(claim, { status, headers, body: JSON.stringify(keptBody) });
        return answer;
      } catch (error) {
        // Another call claimed the key first: its answer is used.
        if (!(error instanceof AlreadyClaimedError) || waits === MAX_WAITS) throw error;
      }
    } else if (known !== 'unanswered') return known;
    else if (waits === MAX_WAITS)
      throw new Problem(
        'conflict',
        'A request with this key was executed, but its answer was lost. Check what the request created.',
      );
    else await SYSTEM_CLOCK.sleep(WAIT_MS);
  }
}
