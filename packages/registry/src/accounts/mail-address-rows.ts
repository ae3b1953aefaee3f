import { randomBytes } from 'node:crypto';
import type { MailAddressRow } from '../store/schema.ts';

/**
 * - `pending`: its holder has not confirmed it: it gets no mail but the one that asks for that.
 * - `confirmed`: its holder, or the operator, agreed to mails of the tenant.
 * - `unsubscribed`: its holder wants none, until the holder confirms it again.
 */
export const MAIL_ADDRESS_STATES = ['pending', 'confirmed', 'unsubscribed'] as const;
export type MailAddressState = (typeof MAIL_ADDRESS_STATES)[number];

/** An e-mail address as one tenant may use it. */
export interface MailAddress {
  id: string;
  tenant: string;
  address: string;
  /** Of its reader, as the account supposes that last named it; null: not known. */
  language: string | null;
  state: MailAddressState;
  /** What links in its mails are signed with. */
  secret: string;
  /** Grows with each change of the state: links that change it are good for one generation. */
  generation: number;
  /** When it was last sent a mail that asks for the confirmation; null: never. */
  askedAtMs: number | null;
}

/** How addresses are compared: no mail server in use distinguishes case. */
export function keyOf(address: string): string {
  return address.toLowerCase();
}

/** What links in the mails to an address are signed with, in clear. */
export function newLinkSecret(): string {
  return randomBytes(32).toString('base64url');
}

export function newMailAddressRow(
  id: string,
  tenant: string,
  address: string,
  state: MailAddressState,
  nowMs: number,
): Omit<MailAddressRow, 'language'> {
  return {
    id,
    tenantId: tenant,
    address,
    addressKey: keyOf(address),
    state,
    secret: newLinkSecret(),
    generation: 1,
    askedAtMs: null,
    nextAttemptAtMs: state === 'pending' ? nowMs : null,
    attempts: 0,
    lease: null,
    changedAtMs: nowMs,
  };
}

export function fromRow(row: MailAddressRow): MailAddress {
  return {
    id: row.id,
    tenant: row.tenantId,
    address: row.address,
    language: row.language,
    state: row.state as MailAddressState,
    secret: row.secret,
    generation: row.generation,
    askedAtMs: row.askedAtMs,
  };
}
