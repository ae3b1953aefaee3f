import { createHmac, timingSafeEqual } from 'node:crypto';

/** What a link in an e-mail is good for, and nothing else. */
export const MAIL_LINK_PURPOSES = ['confirm', 'unsubscribe'] as const;
export type MailLinkPurpose = (typeof MAIL_LINK_PURPOSES)[number];

/** What of an address decides whether a link is good. */
export interface LinkedAddress {
  id: string;
  /** Known to this service alone. */
  secret: string;
  generation: number;
}

const MAC_BYTES = 24;
const TOKEN = /^([0-9a-f-]{36})\.(confirm|unsubscribe)\.([0-9a-z]{1,11})\.([A-Za-z0-9_-]{32})$/;

/**
 * A token for the holder of an address: signed, for one purpose, until a time. One that confirms is good for one
 * generation, so it works once; one that unsubscribes works until it expires.
 */
export function mailLinkToken(address: LinkedAddress, purpose: MailLinkPurpose, expiresAtMs: number): string {
  const expires = Math.floor(expiresAtMs / 1000).toString(36);
  return `${address.id}.${purpose}.${expires}.${macOf(address, purpose, expires).toString('base64url')}`;
}

/** The account that the token names; null if it is not a token. */
export function addressIdOf(token: string): string | null {
  return TOKEN.exec(token)?.[1] ?? null;
}

/** True where the token was made for this address and purpose, and has not expired. */
export function isMailLinkValid(
  token: string,
  address: LinkedAddress,
  purpose: MailLinkPurpose,
  nowMs: number,
): boolean {
  const [, id, said, expires = '', mac = ''] = TOKEN.exec(token) ?? [];
  if (id !== address.id || said !== purpose || Number.parseInt(expires, 36) * 1000 <= nowMs) return false;
  return timingSafeEqual(Buffer.from(mac, 'base64url'), macOf(address, purpose, expires));
}

function macOf({ id, secret, generation }: LinkedAddress, purpose: MailLinkPurpose, expires: string): Buffer {
  const bound = purpose === 'confirm' ? generation : '';
  return createHmac('sha256', secret).update(`${id}.${purpose}.${expires}.${bound}`).digest().subarray(0, MAC_BYTES);
}
