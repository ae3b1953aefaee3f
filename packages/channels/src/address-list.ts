import { domainToASCII } from 'node:url';

/** Maximum number of recipients. More need a mailing list, which has its own address. */
export const MAX_RECIPIENTS = 20;

/** Limits of RFC 5321, 4.5.3.1: 64 octets before the @, and 254 for a whole address in a path. */
const MAX_LOCAL_LENGTH = 64;
const MAX_ADDRESS_LENGTH = 254;

/** Words of letters, digits and a few signs, with single full stops between them (RFC 5322, dot-atom). */
const LOCAL_PART = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i;

/**
 * Parses an e-mail address into its form for headers and commands: the domain in lower case and in ASCII. Rejects
 * quoted local parts, comments, literal IP addresses, and domains of one word, which are local to the mail server.
 *
 * @returns the address, or null if the text is not an address
 */
export function emailAddress(text: string): string | null {
  const at = text.lastIndexOf('@');
  const local = text.slice(0, at);
  const written = text.slice(at + 1);
  if (at < 1 || local.length > MAX_LOCAL_LENGTH || !LOCAL_PART.test(local)) return null;
  // The conversion below is that of URLs and accepts more, so the characters of a domain name are checked first.
  if (!/^[\p{L}\p{N}\p{M}.-]+$/u.test(written)) return null;

  const domain = domainToASCII(written);
  const labels = domain.split('.');
  if (labels.length < 2 || !labels.every((label) => LABEL.test(label))) return null;
  // A top-level domain is never a number: this would be an IPv4 address.
  if (/^\d+$/.test(labels.at(-1) ?? '')) return null;
  const address = `${local}@${domain}`;
  return address.length > MAX_ADDRESS_LENGTH ? null : address;
}

export type AddressList = { ok: true; addresses: readonly string[] } | { ok: false; error: string };

/**
 * Parses recipients as a person writes them: one text with commas or semicolons between the addresses, or a list with
 * one address per item. Duplicates are dropped. Line breaks are always rejected, so that no header can be injected.
 *
 * @returns 1 to {@link MAX_RECIPIENTS} addresses, or the fault, as a sentence
 */
export function parseAddressList(list: string | readonly string[]): AddressList {
  const texts = typeof list === 'string' ? list.split(/[,;]/) : list;
  const addresses = new Map<string, string>();
  for (const text of texts) {
    if (/[\r\n]/.test(text)) return { ok: false, error: 'Addresses must not contain line breaks.' };
    const trimmed = text.trim();
    if (trimmed === '') continue;
    const address = emailAddress(trimmed);
    if (address === null) return { ok: false, error: `Not an e-mail address: ${shown(trimmed)}` };
    const key = address.toLowerCase();
    if (!addresses.has(key)) addresses.set(key, address);
    if (addresses.size > MAX_RECIPIENTS) return { ok: false, error: `More than ${MAX_RECIPIENTS} addresses.` };
  }
  if (addresses.size === 0) return { ok: false, error: 'At least one address is needed.' };
  return { ok: true, addresses: [...addresses.values()] };
}

/** Shortens a rejected text and removes control characters, to show it to its author. */
function shown(text: string): string {
  return text.replace(/\p{Cc}/gu, '?').slice(0, 100);
}

/** The sender of a message: an address, with or without a name. */
export interface Sender {
  name: string;
  address: string;
}

/**
 * `fleet@example.com` or `Fleet <fleet@example.com>`; as this comes from the configuration, the domain may be one word
 * (`outrider@localhost`).
 *
 * @throws TypeError for anything else
 */
export function parseSender(text: string): Sender {
  const [, name = '', inBrackets, bare] = /^(?:([^<>\r\n]*)<([^<>]*)>|([^<>]*))$/.exec(text.trim()) ?? [];
  const written = (inBrackets ?? bare ?? '').trim();
  const oneWord = /^([^@]+)@([a-z0-9-]+)$/i.exec(written);
  const valid = oneWord ? LOCAL_PART.test(oneWord[1] ?? '') && LABEL.test(oneWord[2] ?? '') : null;
  const address = valid === true ? written : emailAddress(written);
  if (address === null) throw new TypeError(`not a sender of e-mails: ${shown(text)}`);
  return { name: name.trim().replace(/^"(.*)"$/, '$1'), address };
}
