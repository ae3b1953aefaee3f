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

/** As `Idempotency-Key` is written: visible ASCII, in quotes or not. */
const KEY = /^[\x21-\x7e]{1,255}$/;
const WAIT_MS = 50;
const MAX_WAITS = 20;
/** What a field is named that holds what nobody may read. */
const SECRET_FIELD = /"\w*(?:password|secret)\w*":/i;

/** Calls that make something, or begin it, which a client that lost the answer would make twice. */
export function isRepeatable({
  method,
  answers,
  answersSecret,
}: Pick<Route, 'method' | 'answers' | 'answersSecret'>): boolean {
  if (method !== 'post' || answersSecret) return false;
  return answers[201] !== undefined || answers[202]?.headers?.Location !== undefined;
}

/**
 * The key under which a client may send its request again; null where it gives none.
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

/** What makes a request this one and no other: what is asked for, and the body as it was understood. */
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
 * Answers a request as it was answered before, or makes it, once. One that is being made by another call is waited for.
 *
 * @param make makes it with a registry that takes the claim
 * @throws {Problem} when the key was another request's, or the answer does not come
 */
export async function onceOnly(
  { idempotency }: Pick<Registry, 'idempotency'>,
  request: RepeatableRequest,
  make: (claim: Claim) => Promise<Reply>,
): Promise<KeptAnswer> {
  for (let waits = 0; ; waits += 1) {
    const known = await idempotency.find(request);
    if (known === 'other')
      throw new Problem('idempotency-mismatch', 'Another request had this Idempotency-Key: a new one needs a new key.');
    if (known === 'new') {
      try {
        const claim = await idempotency.claim(request);
        const { status, headers = {}, body, keptBody = body } = await make(claim);
        const answer = { status, headers, body: JSON.stringify(body) };
        if (claim.taken) await idempotency.answered(claim, { status, headers, body: JSON.stringify(keptBody) });
        return answer;
      } catch (error) {
        // Somebody was faster: what they made is the answer.
        if (!(error instanceof AlreadyClaimedError) || waits === MAX_WAITS) throw error;
      }
    } else if (known !== 'unanswered') return known;
    else if (waits === MAX_WAITS)
      throw new Problem('conflict', 'A request with this key was made, and its answer was lost: see what it made.');
    else await SYSTEM_CLOCK.sleep(WAIT_MS);
  }
}
