import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Seconds by which a delivery may be older, or newer, than the receiver's clock (as receivers of Standard Webhooks
 * use).
 */
export const WEBHOOK_TOLERANCE_S = 300;

const PREFIX = 'whsec_';
/** Standard Webhooks: a secret has 192 to 512 bits. */
const MIN_SECRET_BYTES = 24;
const MAX_SECRET_BYTES = 64;

/**
 * A new signing secret, in the form that the user sees: `whsec_` and 32 bytes in base64.
 *
 * @param random returns that many unpredictable bytes, such as `randomBytes` of node:crypto
 */
export function createWebhookSecret(random: (bytes: number) => Uint8Array): string {
  return PREFIX + Buffer.from(random(32)).toString('base64');
}

/** Why `secret` is invalid, as a sentence; null if it is valid: `whsec_` and 24 to 64 bytes in base64. */
export function checkWebhookSecret(secret: string): string | null {
  if (!secret.startsWith(PREFIX)) return `The secret must begin with ${PREFIX}.`;
  const text = secret.slice(PREFIX.length);
  const bytes = Buffer.from(text, 'base64');
  // Node ignores invalid characters: only a text that is equal after the round trip was valid base64.
  if (bytes.toString('base64') !== text) return `The secret must be base64 after ${PREFIX}.`;
  if (bytes.length < MIN_SECRET_BYTES || bytes.length > MAX_SECRET_BYTES)
    return `The secret must have ${MIN_SECRET_BYTES} to ${MAX_SECRET_BYTES} bytes.`;
  return null;
}

/**
 * The value of header `webhook-signature`, by the conventions of Standard Webhooks: `v1,` and the base64 of the
 * HMAC-SHA256 over `id.timestamp.body`.
 *
 * @param secret `whsec_…`
 * @param id the value of `webhook-id`; without full stops, so that nothing can be moved between the three parts
 * @param timestampS the value of `webhook-timestamp`: whole Unix seconds of this attempt
 * @param body exactly the bytes that are sent
 * @throws TypeError for a malformed secret or id
 */
export function signWebhook(secret: string, id: string, timestampS: number, body: string | Uint8Array): string {
  if (checkWebhookId(id) !== null) throw new TypeError(`not an id of a webhook: ${id}`);
  return `v1,${macOf(secret, id, String(timestampS), body).toString('base64')}`;
}

/** Why `id` is not valid for `webhook-id`; null if it is. */
export function checkWebhookId(id: string): string | null {
  return /^[\w-]{1,255}$/.test(id) ? null : 'The id must be 1 to 255 letters, digits, hyphens or underscores.';
}

/**
 * Why a request that claims to be a webhook must be rejected; null if it is fresh and signed with (one of) the secrets.
 * This is the receiver's side.
 *
 * @param request header names in lower case, as Node gives them; the raw body, not parsed and serialised again
 * @param secrets `whsec_…`, more than one during a change
 * @param nowMs the receiver's clock, Unix milliseconds
 * @throws TypeError for a malformed secret
 */
export function verifyWebhook(
  request: { headers: Readonly<Record<string, string | readonly string[] | undefined>>; body: string | Uint8Array },
  secrets: string | readonly string[],
  nowMs: number,
): string | null {
  const id = request.headers['webhook-id'];
  const timestamp = request.headers['webhook-timestamp'];
  const signatures = request.headers['webhook-signature'];
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string')
    return 'The headers webhook-id, webhook-timestamp and webhook-signature must each occur once.';
  if (!/^\d{1,12}$/.test(timestamp)) return 'The header webhook-timestamp is not a time in whole Unix seconds.';
  if (Math.abs(nowMs / 1000 - Number(timestamp)) > WEBHOOK_TOLERANCE_S)
    return `The delivery is more than ${WEBHOOK_TOLERANCE_S} seconds away from the clock.`;

  // The header may hold signatures of several versions and keys.
  const given = signatures.split(' ').filter((signature) => signature.startsWith('v1,'));
  for (const secret of typeof secrets === 'string' ? [secrets] : secrets) {
    const right = macOf(secret, id, timestamp, request.body);
    for (const signature of given) {
      const mac = Buffer.from(signature.slice('v1,'.length), 'base64');
      if (mac.length === right.length && timingSafeEqual(mac, right)) return null;
    }
  }
  return 'No signature fits.';
}

function macOf(secret: string, id: string, timestamp: string, body: string | Uint8Array): Buffer {
  const wrong = checkWebhookSecret(secret);
  if (wrong !== null) throw new TypeError(wrong);
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  return createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
}
