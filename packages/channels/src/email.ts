import { FairQueue, QueueFullError, SYSTEM_CLOCK } from '@outrider/domain';
import { MAX_RECIPIENTS, parseAddressList, parseSender } from './address-list.ts';
import { checkFolder, safeName, writeEml } from './eml-folder.ts';
import { failedForGood, failedForNow, type SendResult } from './send-result.ts';

export interface EmailMessage {
  /** The same on every attempt: the message id comes from it, so that receivers can drop doubles. */
  id: string;
  /** Plain addresses. All of them are named in the message, so all of its readers see them. */
  to: readonly string[];
  subject: string;
  text: string;
  html?: string;
  /** Where its reader says that no more are wanted: by a link, and by one click of the mail program (RFC 8058). */
  unsubscribeUrl?: string;
  attachments?: readonly { name: string; mediaType: string; content: Uint8Array }[];
}

export interface EmailChannel {
  /**
   * One attempt. Never rejects: whatever is wrong with the message or the server is in the result. Where a server takes
   * the message for some recipients and not for others, that is final: another attempt would reach the first ones
   * twice.
   */
  send(message: EmailMessage): Promise<SendResult>;
  /** Why nothing could be sent now (server unreachable, login refused, folder not writable); null when all is well. */
  verify(): Promise<string | null>;
  /** Takes nothing more, waits for what is under way, ends all connections. */
  close(): Promise<void>;
}

export interface EmailOptions {
  /**
   * `smtp://user:password@host:port` (STARTTLS where the server has it; demanded where there is a password, unless
   * `?ignoreTLS=true`) or `smtps://…` (TLS from the start). Null: messages become files.
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
/** For a connection, a greeting, a silence; and for a message as a whole, should the server trickle. */
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

/** Who gets it, and what nodemailer makes the message of. */
interface Mail {
  id: string;
  to: readonly string[];
  message: ReturnType<typeof composition>;
}

/**
 * E-mail by SMTP, or into a folder where no server is set. Replies of the server decide: 5yz to the message or its
 * recipients is final; 4yz, a server that refuses to talk at all, broken and silent connections may be tried again.
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

/** A message in nodemailer's terms: addresses already taken apart, so that none of it is parsed once more. */
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
    // RFC 3834, and what Exchange listens to: out-of-office notes are not to answer a machine.
    headers: {
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
      ...(unsubscribeUrl !== undefined && {
        'List-Unsubscribe': `<${unsubscribeUrl}>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      }),
    },
    // No part of a message is ever fetched from a path or an address.
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** What nodemailer makes; it is loaded by the first message: it is 0.7 MB of source. */
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
    // The machine's clock, as the times of files are by it.
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
      // Attempts are counted by who calls: none is made in secret.
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

/** What an error of nodemailer says about the message. */
function smtpFailure(error: unknown): SendResult {
  const { responseCode, code, rejectedErrors } = error as SmtpError;
  const status = responseCode ?? null;
  // Only these are about this message; a refused login, greeting or STARTTLS is the operator's to mend.
  if (code === 'EENVELOPE' || code === 'EMESSAGE') {
    // Where one recipient may be taken later, another attempt is worth it: nobody has the message yet.
    const replies = rejectedErrors?.length ? rejectedErrors : [{ responseCode }];
    const final = replies.every((reply) => isFinal(reply.responseCode));
    const refused = `The mail server refused the message: ${replyText(error)}`;
    return final ? failedForGood(refused, status) : failedForNow(refused, status);
  }
  if (code === 'EAUTH' || code === 'ENOAUTH')
    return failedForNow(`The mail server refused the login: ${replyText(error)}`, status);
  if (responseCode !== undefined)
    return failedForNow(`The mail server refused to talk: ${replyText(error)}`, responseCode);
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
 * RFC 5321, 4.2.1: 5yz is permanent. 503 says that the conversation was out of step, not that the message is bad. No
 * code at all: the message was given up before the server was asked, as it would be the next time.
 */
function isFinal(code: number | undefined): boolean {
  return code === undefined || (code >= 500 && code <= 599 && code !== 503);
}

function replyCode(response: string | undefined): number | null {
  const code = /^\d{3}/.exec(response ?? '');
  return code === null ? null : Number(code[0]);
}

/** What the server said, in one bounded line. */
function replyText(error: unknown): string {
  const { response, message } = error as SmtpError;
  return (response ?? message ?? 'no reason given').replace(/[\p{Cc}\s]+/gu, ' ').slice(0, 300);
}

function codeOf(error: unknown): string {
  const { originalCode, code, message } = error as SmtpError;
  return originalCode ?? code ?? message ?? 'unknown error';
}
