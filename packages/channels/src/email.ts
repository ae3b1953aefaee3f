import { FairQueue, QueueFullError, SYSTEM_CLOCK } from '@outrider/domain';
import { MAX_RECIPIENTS, parseAddressList, parseSender } from './address-list.ts';
import { checkFolder, safeName, writeEml } from './eml-folder.ts';
import { failedForGood, failedForNow, type SendResult } from './send-result.ts';

export interface EmailMessage {
  /** The same on every attempt: the message id is derived from it, so that receivers can drop duplicates. */
  id: string;
  /** Plain addresses. All of them are in the header of the message, so all recipients see them. */
  to: readonly string[];
  subject: string;
  text: string;
  html?: string;
  /** URL for unsubscribing: by a link, and by one click in the mail program (RFC 8058). */
  unsubscribeUrl?: string;
  attachments?: readonly { name: string; mediaType: string; content: Uint8Array }[];
}

export interface EmailChannel {
  /**
   * Makes one attempt. Never rejects: a fault of the message or the server is in the result. If a server accepts the
   * message for only some recipients, that is final: another attempt would deliver it to those twice.
   */
  send(message: EmailMessage): Promise<SendResult>;
  /** Why nothing can be sent now (server unreachable, login refused, folder not writable); null if all is well. */
  verify(): Promise<string | null>;
  /** Accepts no more messages, waits for pending ones, then closes all connections. */
  close(): Promise<void>;
}

export interface EmailOptions {
  /**
   * `smtp://user:password@host:port` (STARTTLS if the server supports it; required if there is a password, unless
   * `?ignoreTLS=true`) or `smtps://…` (TLS from the start). Null: messages are written to files.
   */
  smtpUrl: string | null;
  /** `fleet@example.com` or `Fleet <fleet@example.com>`. */
  from: string;
  /** Where messages go as `.eml` files when there is no `smtpUrl`. */
  folder: string;
  /** Unix milliseconds. */
  now: () => number;
}

const MAX_CONNECTIONS = 4;
const MAX_WAITING = 1000;
const MAX_MESSAGES_PER_CONNECTION = 100;
/** Timeouts of a connection, a greeting and a silence, and of the whole message in case the server is very slow. */
const CONNECT_TIMEOUT_MS = 10_000;
const SILENCE_TIMEOUT_MS = 30_000;
const MESSAGE_TIMEOUT_MS = 90_000;

/** What one way of sending does with a finished message; throws what went wrong. */
interface Outlet {
  send(mail: Mail): Promise<SendResult>;
  verify(): Promise<unknown>;
  failure(error: unknown): SendResult;
  close(): void;
}

/** The recipients, and the input of nodemailer. */
interface Mail {
  id: string;
  to: readonly string[];
  message: ReturnType<typeof composition>;
}

/**
 * Sends e-mail by SMTP, or writes it to a folder if no server is configured. Replies of the server decide: 5yz to the
 * message or its recipients is final. 4yz, a server that refuses the session, and broken or silent connections are
 * retried.
 *
 * @throws TypeError for an `smtpUrl` or a `from` that is malformed
 */
export function createEmailChannel(options: EmailOptions): EmailChannel {
  const from = parseSender(options.from);
  const outlet = options.smtpUrl === null ? folderOutlet(options.folder) : smtpOutlet(options.smtpUrl);
  const queue = new FairQueue({ atOnce: MAX_CONNECTIONS, maxWaiting: MAX_WAITING });
  let closed = false;

  return {
    async send(message) {
      const list = parseAddressList(message.to);
      if (!list.ok) return failedForGood(list.error);
      if (closed) return failedForNow('The service is stopping.');
      try {
        return await queue.run(async () => {
          if (closed) return failedForNow('The service is stopping.');
          const to = list.addresses;
          return outlet.send({ id: message.id, to, message: composition(message, from, to, options.now()) });
        });
      } catch (error) {
        return error instanceof QueueFullError ? failedForNow('Too many e-mails are waiting.') : outlet.failure(error);
      }
    },
    async verify() {
      try {
        await outlet.verify();
        return null;
      } catch (error) {
        const failure = outlet.failure(error);
        return failure.ok ? null : failure.error;
      }
    },
    async close() {
      closed = true;
      await queue.idle();
      outlet.close();
    },
  };
}

/** Builds a message for nodemailer, with addresses already parsed, so that it does not parse them again. */
function composition(
  { id, subject, text, html, unsubscribeUrl, attachments = [] }: EmailMessage,
  from: { name: string; address: string },
  to: readonly string[],
  nowMs: number,
) {
  return {
    from,
    to: to.map((address) => ({ name: '', address })),
    envelope: { from: from.address, to: [...to] },
    subject: subject.replace(/[\p{Cc}\s]+/gu, ' ').trim(),
    text,
    ...(html === undefined ? {} : { html }),
    attachments: attachments.map(({ name, mediaType, content }) => ({
      filename: name,
      contentType: mediaType,
      content: Buffer.from(content.buffer, content.byteOffset, content.byteLength),
    })),
    messageId: `<${safeName(id)}@${from.address.slice(from.address.lastIndexOf('@') + 1)}>`,
    date: new Date(nowMs),
    // RFC 3834, and the header that Exchange uses: out-of-office notes must not reply to automatic messages.
    headers: {
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
      ...(unsubscribeUrl !== undefined && {
        'List-Unsubscribe': `<${unsubscribeUrl}>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      }),
    },
    // No part of a message may be read from a file or fetched from a URL.
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** Creates an object of nodemailer. The library is loaded at the first message, because it has 0.7 MB of source. */
function whenNeeded<T extends { close(): void }>(make: (mailer: typeof import('nodemailer')) => T) {
  let made: Promise<T> | null = null;
  return {
    needed(): Promise<T> {
      made ??= import('nodemailer').then(make);
      return made;
    },
    close(): void {
      made?.then(
        (transport) => transport.close(),
        () => {},
      );
    },
  };
}

function folderOutlet(folder: string): Outlet {
  const composer = whenNeeded(({ createTransport }) =>
    createTransport({ streamTransport: true, buffer: true, newline: 'windows' }),
  );
  return {
    async send({ id, message }) {
      const { message: bytes } = await (await composer.needed()).sendMail(message);
      await writeEml(folder, id, bytes as Buffer);
      return { ok: true, status: null };
    },
    // The machine's clock, because file times use it.
    verify: () => checkFolder(folder, SYSTEM_CLOCK.now()),
    failure: (error) => failedForNow(`The message could not be written (${codeOf(error)}).`),
    close: composer.close,
  };
}

function smtpOutlet(smtpUrl: string): Outlet {
  // The URL holds a password: no error may show it.
  const url = URL.canParse(smtpUrl) ? new URL(smtpUrl) : null;
  if (url === null || !/^smtps?:$/.test(url.protocol) || url.hostname === '')
    throw new TypeError('the SMTP server must be given as smtp://… or smtps://…');
  const guarded = url.password !== '' && url.protocol === 'smtp:' && url.searchParams.get('ignoreTLS') !== 'true';

  const pool = whenNeeded(({ createTransport }) =>
    createTransport({
      url: smtpUrl,
      pool: true,
      maxConnections: MAX_CONNECTIONS,
      maxMessages: MAX_MESSAGES_PER_CONNECTION,
      maxRecipients: MAX_RECIPIENTS,
      // The caller counts attempts, so the library must not retry by itself.
      maxRequeues: 0,
      connectionTimeout: CONNECT_TIMEOUT_MS,
      greetingTimeout: CONNECT_TIMEOUT_MS,
      dnsTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: SILENCE_TIMEOUT_MS,
      requireTLS: guarded,
    }),
  );
  return {
    async send({ to, message }) {
      const sent = await (await pool.needed()).sendMail({
        ...message,
        signal: AbortSignal.timeout(MESSAGE_TIMEOUT_MS),
      });
      const status = replyCode(sent.response);
      const refused = sent.rejectedErrors ?? [];
      if (refused.length === 0) return { ok: true, status };
      const reasons = refused.map((error) => `${error.recipient}: ${replyText(error)}`).join('; ');
      return failedForGood(`Delivered to ${to.length - refused.length} of ${to.length}. ${reasons}`, status);
    },
    verify: async () => (await pool.needed()).verify(),
    failure: smtpFailure,
    close: pool.close,
  };
}

/** Converts an error of nodemailer to the result for the message. */
function smtpFailure(error: unknown): SendResult {
  const { responseCode, code, rejectedErrors } = error as SmtpError;
  const status = responseCode ?? null;
  // Only these concern this message; the operator has to fix a refused login, greeting or STARTTLS.
  if (code === 'EENVELOPE' || code === 'EMESSAGE') {
    // If one recipient may be accepted later, another attempt makes sense: nobody has the message yet.
    const replies = rejectedErrors?.length ? rejectedErrors : [{ responseCode }];
    const final = replies.every((reply) => isFinal(reply.responseCode));
    const refused = `The mail server refused the message: ${replyText(error)}`;
    return final ? failedForGood(refused, status) : failedForNow(refused, status);
  }
  if (code === 'EAUTH' || code === 'ENOAUTH')
    return failedForNow(`The mail server refused the login: ${replyText(error)}`, status);
  if (responseCode !== undefined)
    return failedForNow(`The mail server refused the connection: ${replyText(error)}`, responseCode);
  return failedForNow(`The mail server could not be reached (${codeOf(error)}).`);
}

interface SmtpError {
  code?: string;
  originalCode?: string;
  message?: string;
  response?: string;
  responseCode?: number;
  rejectedErrors?: readonly SmtpError[];
}

/**
 * RFC 5321, 4.2.1: 5yz is permanent. 503 means that the commands were out of sequence, not that the message is bad.
 * Without a code the message failed before it was sent to the server, and would fail again.
 */
function isFinal(code: number | undefined): boolean {
  return code === undefined || (code >= 500 && code <= 599 && code !== 503);
}

function replyCode(response: string | undefined): number | null {
  const code = /^\d{3}/.exec(response ?? '');
  return code === null ? null : Number(code[0]);
}

/** The server's reply, in one line of bounded length. */
function replyText(error: unknown): string {
  const { response, message } = error as SmtpError;
  return (response ?? message ?? 'no reason given').replace(/[\p{Cc}\s]+/gu, ' ').slice(0, 300);
}

function codeOf(error: unknown): string {
  const { originalCode, code, message } = error as SmtpError;
  return originalCode ?? code ?? message ?? 'unknown error';
}
