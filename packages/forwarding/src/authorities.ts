import { X509Certificate } from 'node:crypto';
import type { SettingsFault } from './destination-kind.ts';

/** Settings of a connection to a server whose certificate is of a private certificate authority. */
export interface Authorities {
  /** CA certificates in PEM, which replace those of the system; null, or left out: those of the system. */
  ca?: string | null;
}

export const MAX_AUTHORITIES_CHARACTERS = 16_384;
const MAX_AUTHORITIES = 10;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Fault of the CA certificates; null if none exists. */
export function authoritiesFault({ ca }: Authorities, isEncrypted: boolean): SettingsFault | null {
  if (ca === null || ca === undefined) return null;
  const fault = (detail: string) => ({ pointer: '/ca', detail });
  if (!isEncrypted) return fault('Certificates require TLS.');
  const certificates = ca.match(CERTIFICATE) ?? [];
  if (certificates.length === 0 || ca.replace(CERTIFICATE, '').trim() !== '')
    return fault('It must contain only certificates in PEM format (-----BEGIN CERTIFICATE----- …).');
  if (certificates.length > MAX_AUTHORITIES) return fault(`It must be at most ${MAX_AUTHORITIES} certificates.`);
  const broken = certificates.findIndex((certificate) => !isCertificate(certificate));
  return broken === -1 ? null : fault(`Certificate ${broken + 1} can't be read.`);
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).validTo !== '';
  } catch {
    return false;
  }
}
