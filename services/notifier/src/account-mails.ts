import { randomBytes } from 'node:crypto';
import { type EmailChannel, type EmailMessage, escapeHtml, messageHtml, outcomeOf } from '@outrider/channels';
import type { Clock } from '@outrider/domain';
import type { LeasedAccountLink, MailLimits, Registry } from '@outrider/registry';
import { Counter, type Logger, type Metrics, type Part, worker } from '@outrider/runtime';
import { languageOf } from '@outrider/words';
import { messagesIn } from '@outrider/words/messages';

export interface AccountMailsParts {
  config: {
    /** Public URL of the service: the base of links in e-mails. */
    publicUrl: string;
    /** Default 1000. */
    pollMs?: number;
  };
  registry: Pick<Registry, 'mailCounts' | 'accountLinks'>;
  email: Pick<EmailChannel, 'send'>;
  logger: Logger;
  metrics: Metrics;
  clock: Clock;
  /** 0 to 1. */
  random(): number;
}

/** Anybody may request a reset e-mail, so an address gets few. */
const PER_ADDRESS = { perDay: 5, perMonth: 30 };
const PER_OWNER: MailLimits = { perHour: 30, perDay: 100 };
const HOUR_MS = 3_600_000;
/** A reset is requested by somebody who waits for it; an invitation may stay unread for some days. */
const VALID_HOURS = { reset: 1, invitation: 7 * 24 } as const;
const MAX_ATTEMPTS = 10;
const TOKEN_BYTES = 32;
const AT_ONCE = 2;
/** Lease duration. Renewed while the message is sent, so another worker retries a crashed worker's message. */
const LEASE_MS = 30_000;
const RENEW_EVERY_MS = 10_000;

/** Sends the links by which users set their password: after an invitation, or when they forgot it. */
export function createAccountMails(parts: AccountMailsParts): Part {
  const { config, registry, email, logger, clock } = parts;
  const attempts = new Counter({
    name: 'outrider_account_mails_total',
    help: 'Attempts to send an account a link by e-mail, by outcome',
    labelNames: ['outcome'],
    registers: [parts.metrics],
  });

  async function send(leased: LeasedAccountLink): Promise<unknown> {
    const { user, purpose } = leased;
    const facts = { userId: user.id, purpose };
    // Every attempt failed or its worker crashed. A blocked account is sent no link.
    if (leased.attempts > MAX_ATTEMPTS || user.blocked) return registry.accountLinks.settle(leased, null);
    // Retries of one e-mail count once towards the limits.
    if (leased.attempts === 1) {
      const reached = await registry.mailCounts.takeFew('account mails', leased, PER_ADDRESS, PER_OWNER);
      if (reached !== null) {
        attempts.inc({ outcome: 'limited' });
        logger.warn({ ...facts, limit: reached }, 'e-mail to an account was not sent');
        return registry.accountLinks.settle(leased, null);
      }
    }
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    if (!(await registry.accountLinks.arm(leased, token, clock.now() + VALID_HOURS[purpose] * HOUR_MS))) return;
    const result = await email.send({
      id: `${user.id}-${clock.now()}`,
      to: [leased.address],
      ...textOf(leased, token),
    });
    const giveUpAtMs = clock.now() + VALID_HOURS[purpose] * HOUR_MS;
    const outcome = outcomeOf({ attempts: leased.attempts, giveUpAtMs }, result, clock.now(), parts.random());
    attempts.inc({ outcome: outcome.state });
    if (outcome.state === 'pending' && leased.attempts < MAX_ATTEMPTS)
      return registry.accountLinks.settle(leased, outcome.nextAttemptAtMs);
    if (outcome.state !== 'delivered') logger.warn(facts, 'e-mail to an account was not sent');
    return registry.accountLinks.settle(leased, null);
  }

  function textOf(
    { purpose, user, language: said }: LeasedAccountLink,
    token: string,
  ): Omit<EmailMessage, 'id' | 'to'> {
    const language = languageOf(said);
    const link = `${config.publicUrl}/password?token=${token}&language=${language}`;
    const words = messagesIn(language).words.accountMails;
    const { subject, why } = words[purpose];
    const about = why(config.publicUrl, user.login);
    const hours = VALID_HOURS[purpose];
    const rest = `${hours < 48 ? words.expiresHours(hours) : words.expiresDays(hours / 24)} ${words.ignore}`;
    const html = [escapeHtml(about), `<a href="${escapeHtml(link)}">${escapeHtml(link)}</a>`, escapeHtml(rest)];
    return {
      subject,
      text: `${[about, link, rest].join('\n\n')}\n`,
      html: messageHtml(
        language,
        subject,
        html.map((paragraph) => `<p>${paragraph}</p>`),
      ),
    };
  }

  return worker<LeasedAccountLink>({
    name: 'account mails',
    atOnce: AT_ONCE,
    lease: (free) => registry.accountLinks.lease(free, LEASE_MS),
    run: send,
    renew: { everyMs: RENEW_EVERY_MS, leases: (leased) => registry.accountLinks.renew(leased, LEASE_MS) },
    facts: ({ user, purpose }) => ({ userId: user.id, purpose }),
    pollMs: config.pollMs ?? 1000,
    logger,
    clock,
  });
}
