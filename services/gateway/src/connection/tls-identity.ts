import { readFile } from 'node:fs/promises';
import { createSecureContext, type TLSSocket } from 'node:tls';
import { type Clock, SYSTEM_CLOCK } from '@outrider/domain';
import type { Logger } from '@outrider/runtime';

const CHECK_EVERY_MS = 10_000;

/** A terminal's certificate is optional. It is compared with that of its vehicle, not verified by authorities. */
export const TLS_OPTIONS = { requestCert: true, rejectUnauthorized: false, handshakeTimeout: 10_000 };

/** SHA-256 of the peer's certificate, in lower-case hexadecimal; null without a certificate. */
export function certificateOf(socket: TLSSocket): string | null {
  const { fingerprint256 } = socket.getPeerCertificate();
  return fingerprint256 === undefined ? null : fingerprint256.replaceAll(':', '').toLowerCase();
}

export interface TlsFiles {
  /** PEM: the certificate and its chain. */
  certificate: string;
  /** PEM. */
  key: string;
}

/** Certificate and key of the TLS listeners, reloaded when the files change. */
export interface TlsIdentity {
  readonly context: { cert: Buffer; key: Buffer };
  /** Calls the listener with each new valid pair. */
  watch(listener: (context: TlsIdentity['context']) => void): void;
  close(): void;
}

/** @throws {Error} when a file can't be read, or the key does not match the certificate */
export async function openTlsIdentity(
  files: TlsFiles,
  logger: Logger,
  clock: Clock = SYSTEM_CLOCK,
): Promise<TlsIdentity> {
  const read = async () => {
    const [cert, key] = await Promise.all([readFile(files.certificate), readFile(files.key)]);
    return { cert, key };
  };
  let context = await read();
  createSecureContext(context);
  const listeners: ((context: TlsIdentity['context']) => void)[] = [];
  let refused = '';

  async function check(): Promise<void> {
    const next = await read();
    if (next.cert.equals(context.cert) && next.key.equals(context.key)) return;
    // Throws while only one of the two files has been written.
    createSecureContext(next);
    context = next;
    for (const listener of listeners) listener(next);
    logger.info({ certificate: files.certificate }, 'TLS certificate reloaded');
  }

  const timer = clock.every(CHECK_EVERY_MS, () => {
    check().then(
      () => {
        refused = '';
      },
      (error: Error) => {
        if (error.message !== refused)
          logger.warn({ err: error }, 'cannot reload the TLS certificate; keeping the old one');
        refused = error.message;
      },
    );
  });
  timer.unref();
  return {
    get context() {
      return context;
    },
    watch: (listener) => listeners.push(listener),
    close: () => timer.cancel(),
  };
}
