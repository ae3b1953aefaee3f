import { randomBytes } from 'node:crypto';
import type { MailAddressRow } from '../store/schema.ts';

/**
 * - `pending`: its holder has not confirmed it. It is sent no mail but the request for confirmation.
 * - `confirmed`: its holder, or the operator, agreed to mails of the tenant.
 * - `unsubscribed`: its holder wants no mails, until the holder confirms the address again.
 */
export const MAIL_ADDRESS_STATES = ['pending', 'confirmed', 'unsubscribed'] as const;
export type MailAddressState = (typeof MAIL_ADDRESS_STATES)[number];

/** An e-mail address as one tenant may use it. */
export interface MailAddress {
  id: string;
  tenant: string;
  address: string;
  /** Assumed language of the reader, as the account that last named the address has it; null: not known. */
  language: string | null;
  state: MailAddressState;
  /** Signs links in mails to the address. */
  secret: string;
  /** Grows with each change of the state. A link that changes the state is valid for one generation. */
  generation: number;
  /** When the last request for confirmation was sent; null: never. */
  askedAtMs: number | null;
}

/** How addresses are compared: no mail server in use distinguishes case. */
export function keyOf(address: string): string {
  return address.toLowerCase();
}

/** New secret that signs links in mails to an address, not yet sealed. */
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
