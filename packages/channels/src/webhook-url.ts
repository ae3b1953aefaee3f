import { isIP } from 'node:net';
import { refusedAddress } from './network-address.ts';

/** Longer than any endpoint needs, and accepted by common servers. */
const MAX_URL_LENGTH = 2048;

/**
 * Why `url` is not acceptable as a webhook endpoint, as a sentence for its author; null if it is. Checks only the text
 * itself: the addresses of a name are checked at each delivery.
 *
 * @param allowPrivateAddresses allows plain http, and hosts inside the own network
 */
export function checkWebhookUrl(url: string, { allowPrivateAddresses = false } = {}): string | null {
  if (url.length > MAX_URL_LENGTH) return `The URL is longer than ${MAX_URL_LENGTH} characters.`;
  // The parser would correct these silently, so the stored URL would differ from the one that is called.
  if (/[\p{Cc}\s\\]/u.test(url)) return 'The URL contains white space, control characters or backslashes.';
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^/]/i.test(url) || !URL.canParse(url)) return 'This is not an absolute URL.';

  const parsed = new URL(url);
  if (parsed.protocol !== 'https:' && !(allowPrivateAddresses && parsed.protocol === 'http:'))
    return 'The URL must begin with https://.';
  if (parsed.username !== '' || parsed.password !== '') return 'The URL must not contain a user name or a password.';
  if (url.includes('#')) return 'The URL must not contain a fragment (#).';
  if (parsed.port === '0') return 'The port must be 1 to 65535.';
  if (allowPrivateAddresses) return null;

  const host = hostOf(parsed);
  if (/(^|\.)localhost\.?$/.test(host)) return 'The URL must not lead to this machine.';
  const refused = isIP(host) === 0 ? null : refusedAddress(host);
  return refused === null ? null : `The host must not be ${refused}.`;
}

/** The host of a URL, without the brackets around IPv6. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}
