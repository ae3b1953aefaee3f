import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import { badField } from '@outrider/access';
import { type BoundProtocol, hashOfSecret, type TerminalAccessPatch } from '@outrider/domain';
import { allProtocols } from '@outrider/protocols';
import { z } from 'zod';

export const BOUND_PROTOCOLS: readonly BoundProtocol[] = ['learn', 'any', ...allProtocols.map(({ name }) => name)];
/** Protocols in which a terminal cannot send a secret. */
const WITHOUT_SECRET: readonly string[] = allProtocols.filter(({ secret }) => secret === null).map(({ name }) => name);
const SECRETS = allProtocols
  .flatMap(({ title, secret }) => (secret === null ? [] : [`${title}: ${secret}`]))
  .join('; ');

/** Values of {@link TERMINAL_ACCESS_FIELDS} in a request. */
export interface TerminalAccessIn {
  protocol?: BoundProtocol | undefined;
  secret?: string | null | undefined;
  certificateSha256?: string | null | undefined;
  networks?: string[] | undefined;
}

export const TERMINAL_ACCESS_FIELDS = {
  protocol: z.enum(BOUND_PROTOCOLS).meta({
    description:
      'The only protocol that is accepted from the terminal. `learn`: any protocol, until ten packets in a row have used the same one; from then on, only this one. A terminal that registers is bound by its first packet. `any`: all protocols; anyone who knows the id of the ' +
      'terminal can then send data for it by any of them.',
  }),
  secret: z
    .string()
    .regex(/^[\x21-\x3a\x3c-\x7e]{8,64}$/, 'It must be 8 to 64 visible ASCII characters, none of them a semicolon.')
    .nullable()
    .meta({
      description: `Secret that the terminal must send (${SECRETS}). Never returned. Null if none is required.`,
      examples: ['4mQx7TzR9c'],
    }),
  certificateSha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'It must be the SHA-256 of a certificate: 64 hexadecimal digits in lower case.')
    .nullable()
    .meta({
      description: 'SHA-256 of the client certificate that the terminal must present by TLS. Null if none is required.',
    }),
  networks: z
    .array(z.string().refine(isNetwork, 'It must be an address with the length of its network, like 203.0.113.0/24.'))
    .max(32)
    .meta({
      description: 'Networks from which the terminal may connect. If empty, from any.',
      examples: [['203.0.113.0/24']],
    }),
};

function isNetwork(text: string): boolean {
  const [address = '', length = ''] = text.split('/');
  const family = isIP(address);
  return (
    family !== 0 &&
    text.split('/').length === 2 &&
    /^\d{1,3}$/.test(length) &&
    Number(length) <= (family === 4 ? 32 : 128)
  );
}

export function canShowSecret(protocol: BoundProtocol | undefined): boolean {
  return protocol === undefined || !WITHOUT_SECRET.includes(protocol);
}

/**
 * Converts a terminal's access settings to the stored form: a secret is replaced by its hash.
 *
 * @throws {Problem} when the protocol has no secret
 */
export function accessOf({ secret, ...rest }: TerminalAccessIn): TerminalAccessPatch {
  if (secret && !canShowSecret(rest.protocol))
    throw badField('/terminalAccess/secret', `Terminals of the protocol ${rest.protocol} cannot send a secret.`);
  if (secret === undefined) return rest;
  return { ...rest, secretHash: secret === null ? null : hashOfSecret(secret, randomBytes(16)) };
}
