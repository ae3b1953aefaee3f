import { readerOf } from '@outrider/access';
import {
  type EmailChannel,
  type EmailMessage,
  escapeHtml,
  messageHtml,
  messageTime,
  outcomeOf,
  quotedName,
} from '@outrider/channels';
import { type Clock, tenantOf } from '@outrider/domain';
import type { LeasedAccountNotice, MailLimits, Registry } from '@outrider/registry';
import { Counter, type Logger, type Metrics, type Part, worker } from '@outrider/runtime';
import { messagesIn } from '@outrider/words/messages';

export interface AccountNoticesParts {
  config: {
    /** Public URL of the service. */
    publicUrl: string;
    /** Default 1000. */
    pollMs?: number;
  };
  registry: Pick<Registry, 'mailCounts' | 'accountNotices' | 'preferences'>;
  email: Pick<EmailChannel, 'send'>;
  logger: Logger;
  metrics: Metrics;
  clock: Clock;
  /** 0 to 1. */
  random(): number;
}

/** Anybody with the account's password can make many changes, so an address gets few e-mails about them. */
const PER_ADDRESS = { perDay: 20, perMonth: 100 };
const PER_OWNER: MailLimits = { perHour: 100, perDay: 500 };
const GIVE_UP_AFTER_MS = 24 * 3_600_000;
const MAX_ATTEMPTS = 20;
const AT_ONCE = 2;
/** Lease duration. Renewed while the message is sent, so another worker retries a crashed worker's message. */
const LEASE_MS = 30_000;
const RENEW_EVERY_MS = 10_000;

/** E-mails users about changes of how their account signs in, including changes of their own. */
export function createAccountNotices(parts: AccountNoticesParts): Part {
  const { config, registry, email, logger, clock } = parts;
  const { accountNotices } = registry;
  const attempts = new Counter({
    name: 'outrider_account_notices_total',
    help: 'Attempts to send an account a security notice by e-mail, by outcome',
    labelNames: ['outcome'],
    registers: [parts.metrics],
  });

  async function send(leased: LeasedAccountNotice): Promise<unknown> {
    const facts = { userId: leased.user.id, kind: leased.kind };
    // Every attempt failed or its worker crashed.
    if (leased.attempts > MAX_ATTEMPTS) {
      logger.warn(facts, 'e-mail about a sign-in was not sent');
      return accountNotices.remove(leased);
    }
    // Retries of one e-mail count once towards the limits.
    if (leased.attempts === 1) {
      const to = { address: leased.address, tenant: tenantOf(leased.user) };
      const reached = await registry.mailCounts.takeFew('account notices', to, PER_ADDRESS, PER_OWNER);
      if (reached !== null) {
        attempts.inc({ outcome: 'limited' });
        logger.warn({ ...facts, limit: reached }, 'e-mail about a sign-in was not sent');
        return accountNotices.remove(leased);
      }
    }
    const result = await email.send({ id: leased.id, to: [leased.address], ...(await textOf(leased)) });
    const giveUpAtMs = leased.createdAtMs + GIVE_UP_AFTER_MS;
    const outcome = outcomeOf({ attempts: leased.attempts, giveUpAtMs }, result, clock.now(), parts.random());
    attempts.inc({ outcome: outcome.state });
    if (outcome.state === 'pending') return accountNotices.retry(leased, outcome.nextAttemptAtMs);
    if (outcome.state !== 'delivered') logger.warn(facts, 'e-mail about a sign-in was not sent');
    return accountNotices.remove(leased);
  }

  async function textOf(notice: LeasedAccountNotice): Promise<Omit<EmailMessage, 'id' | 'to'>> {
    const { user, kind, detail, createdAtMs } = notice;
    const reader = await readerOf(registry, user.id, 'Etc/UTC');
    const words = messagesIn(reader.language).words.accountNotices;
    const what = words.what[kind];
    const subject = words.subject(user.login);
    const lines = [
      words.about(user.login, config.publicUrl, messageTime(createdAtMs, reader)),
      typeof what === 'string' ? what : what(shownName(kind, detail ?? '')),
      words.notYou(config.publicUrl),
    ];
    const html = lines.map((line) => `<p>${escapeHtml(line)}</p>`);
    return { subject, text: `${lines.join('\n\n')}\n`, html: messageHtml(reader.language, subject, html) };
  }

  return worker<LeasedAccountNotice>({
    name: 'account notices',
    atOnce: AT_ONCE,
    lease: (free) => accountNotices.lease(free, LEASE_MS),
    run: send,
    renew: { everyMs: RENEW_EVERY_MS, leases: (leased) => accountNotices.renew(leased, LEASE_MS) },
    facts: ({ user, kind }) => ({ userId: user.id, kind }),
    pollMs: config.pollMs ?? 1000,
    logger,
    clock,
  });
}

/** Shows a provider as its host, which the operator chose. Other names are shown as a user typed them. */
function shownName(kind: LeasedAccountNotice['kind'], detail: string): string {
  const isProvider = kind === 'sign-in-linked' || kind === 'sign-in-unlinked';
  return (isProvider ? URL.parse(detail)?.host : undefined) ?? quotedName(detail);
}
