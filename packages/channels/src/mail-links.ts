import { createHmac, timingSafeEqual } from 'node:crypto';

/** Purposes of links in e-mails: a link is valid for only one. */
export const MAIL_LINK_PURPOSES = ['confirm', 'unsubscribe'] as const;
export type MailLinkPurpose = (typeof MAIL_LINK_PURPOSES)[number];

/** The fields of an address that determine whether a link is valid. */
export interface LinkedAddress {
  id: string;
  /** Known only to this service. */
  secret: string;
  generation: number;
}

const MAC_BYTES = 24;
const TOKEN = /^([0-9a-f-]{36})\.(confirm|unsubscribe)\.([0-9a-z]{1,11})\.([A-Za-z0-9_-]{32})$/;

/**
 * Creates a token for the holder of an address: signed, for one purpose, until a time. A confirmation token is valid
 * for one generation, so it works once. An unsubscribe token works until it expires.
 */
export function mailLinkToken(address: LinkedAddress, purpose: MailLinkPurpose, expiresAtMs: number): string {
  const expires = Math.floor(expiresAtMs / 1000).toString(36);
  return `${address.id}.${purpose}.${expires}.${macOf(address, purpose, expires).toString('base64url')}`;
}

/** The account id in the token; null if it is not a token. */
export function addressIdOf(token: string): string | null {
  return TOKEN.exec(token)?.[1] ?? null;
}

/** Whether the token was created for this address and purpose, and has not expired. */
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
