import { hash } from 'node:crypto';
import { HIDDEN_CREDENTIALS } from './resources/video-profile.ts';

/** What stands before the fingerprint: no URL that somebody enters may have it. */
export const HIDDEN_URL_MARK = `/${HIDDEN_CREDENTIALS}`;
const FINGERPRINT_DIGITS = 8;
const HIDDEN = /^[^?#]*\/\*\*\*[0-9a-f]{8}$/;

/**
 * A URL as it may be shown, published and noted. What follows its server may be a key, as chat services make them: in
 * place of it comes a fingerprint, which another URL does not have. What is hidden already stays as it is.
 */
export function hiddenUrl(url: string): string {
  if (isHiddenUrl(url)) return url;
  const origin = URL.canParse(url) ? new URL(url).origin : 'null';
  return `${origin === 'null' ? '' : origin}${HIDDEN_URL_MARK}${hash('sha256', url).slice(0, FINGERPRINT_DIGITS)}`;
}

export function isHiddenUrl(url: string): boolean {
  return HIDDEN.test(url);
}
