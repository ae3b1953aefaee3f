import { hash } from 'node:crypto';
import { HIDDEN_CREDENTIALS } from './resources/video-profile.ts';

/** Text before the fingerprint. URLs that people enter must not contain it. */
export const HIDDEN_URL_MARK = `/${HIDDEN_CREDENTIALS}`;
const FINGERPRINT_DIGITS = 8;
const HIDDEN = /^[^?#]*\/\*\*\*[0-9a-f]{8}$/;

/**
 * A URL in the form in which it may be shown, published and logged. The part after the server may be a key, as in URLs
 * of chat services: it is replaced by a fingerprint, which differs between URLs. A hidden URL is returned unchanged.
 */
export function hiddenUrl(url: string): string {
  if (isHiddenUrl(url)) return url;
  const origin = URL.canParse(url) ? new URL(url).origin : 'null';
  return `${origin === 'null' ? '' : origin}${HIDDEN_URL_MARK}${hash('sha256', url).slice(0, FINGERPRINT_DIGITS)}`;
}

export function isHiddenUrl(url: string): boolean {
  return HIDDEN.test(url);
}
