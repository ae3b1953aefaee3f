import {
  type EmailChannel,
  type EmailMessage,
  escapeHtml,
  mailLinkToken,
  messageHtml,
  outcomeOf,
} from '@outrider/channels';
import type { Clock } from '@outrider/domain';
import type { LeasedConfirmation, MailLimits, Registry } from '@outrider/registry';
import { Counter, jointPart, type Logger, type Metrics, type Part, poller, worker } from '@outrider/runtime';
import { languageOf } from '@outrider/words';
import { messagesIn } from '@outrider/words/messages';

export interface ConfirmationsParts {
  config: {
    /** Public URL of the service: the base of links in e-mails. */
    publicUrl: string;
    /** Default 1000. */
    pollMs?: number;
  };
  registry: Pick<Registry, 'mailAddresses' | 'mailCounts'>;
  email: Pick<EmailChannel, 'send'>;
  logger: Logger;
  metrics: Metrics;
  clock: Clock;
  /** 0 to 1. */
  random(): number;
}

/** These recipients have not agreed to any e-mail yet: they get few, however many tenants name their address. */
const PER_ADDRESS = { perDay: 3, perMonth: 6 };
const PER_OWNER: MailLimits = { perHour: 30, perDay: 100 };
const CONFIRM_WITHIN_DAYS = 7;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const MAX_ATTEMPTS = 10;
const AT_ONCE = 2;
/** Lease duration. Renewed while the message is sent, so another worker retries a crashed worker's message. */
const LEASE_MS = 30_000;
const RENEW_EVERY_MS = 10_000;
const CLEAN_EVERY_MS = 3_600_000;

/**
 * Asks the holders of e-mail addresses whether they want e-mails. The text is fixed: the account that named the address
 * cannot influence any word of it. E-mails beyond the limits are postponed.
 */
export function createConfirmations(parts: ConfirmationsParts): Part {
  const { config, registry, email, logger, clock } = parts;
  const attempts = new Counter({
    name: 'outrider_mail_confirmations_total',
    help: 'Attempts to send a confirmation request to an e-mail address, by outcome',
    labelNames: ['outcome'],
    registers: [parts.metrics],
  });

  async function send(leased: LeasedConfirmation): Promise<unknown> {
    const { address } = leased;
    const settle = registry.mailAddresses.settleConfirmation.bind(registry.mailAddresses, leased);
    // Every attempt failed or its worker crashed.
    if (leased.attempts > MAX_ATTEMPTS) return settle({ isSent: false, isCounted: true, retryAtMs: null });
    // Retries of one e-mail count once towards the limits.
    if (leased.attempts === 1) {
      const reached = await registry.mailCounts.takeFew('confirmations', address, PER_ADDRESS, PER_OWNER);
      if (reached !== null) {
        attempts.inc({ outcome: 'limited' });
        logger.info(
          { address: address.id, tenant: address.tenant, limit: reached },
          'confirmation of an address waits',
        );
        return settle({ isSent: false, isCounted: false, retryAtMs: clock.now() + HOUR_MS });
      }
    }
    const result = await email.send({
      // A new id each time that the holder is asked: receivers drop duplicates.
      id: `${address.id}-${address.generation}-${Math.floor((address.askedAtMs ?? 0) / 1000)}`,
      to: [address.address],
      ...textOf(leased),
    });
    const nowMs = clock.now();
    const outcome = outcomeOf({ attempts: leased.attempts, giveUpAtMs: nowMs + DAY_MS }, result, nowMs, parts.random());
    attempts.inc({ outcome: outcome.state });
    if (outcome.state === 'pending' && leased.attempts < MAX_ATTEMPTS)
      return settle({ isSent: false, isCounted: true, retryAtMs: outcome.nextAttemptAtMs });
    if (outcome.state !== 'delivered')
      logger.warn({ address: address.id, tenant: address.tenant }, 'confirmation of an address was not sent');
    return settle({ isSent: outcome.state === 'delivered', isCounted: true, retryAtMs: null });
  }

  function textOf({ address }: LeasedConfirmation): Pick<EmailMessage, 'subject' | 'text' | 'html'> {
    const language = languageOf(address.language);
    const token = mailLinkToken(address, 'confirm', clock.now() + CONFIRM_WITHIN_DAYS * DAY_MS);
    const link = `${config.publicUrl}/email/confirm?token=${token}&language=${language}`;
    const { subject, ...words } = messagesIn(language).words.confirmation;
    const why = words.why(config.publicUrl);
    const rest = `${words.expires(CONFIRM_WITHIN_DAYS)} ${words.ignore}`;
    const html = [escapeHtml(why), `<a href="${escapeHtml(link)}">${escapeHtml(link)}</a>`, escapeHtml(rest)];
    return {
      subject,
      text: `${[why, link, rest].join('\n\n')}\n`,
      html: messageHtml(
        language,
        subject,
        html.map((paragraph) => `<p>${paragraph}</p>`),
      ),
    };
  }

  const sending = worker<LeasedConfirmation>({
    name: 'confirmations',
    atOnce: AT_ONCE,
    lease: (free) => registry.mailAddresses.leaseConfirmations(free, LEASE_MS),
    run: send,
    renew: { everyMs: RENEW_EVERY_MS, leases: (leased) => registry.mailAddresses.renewConfirmations(leased, LEASE_MS) },
    facts: ({ address }) => ({ address: address.id, tenant: address.tenant }),
    pollMs: config.pollMs ?? 1000,
    logger,
    clock,
  });
  const cleaning = poller({
    name: 'cleaning of mail addresses',
    work: () => registry.mailAddresses.clean(),
    everyMs: CLEAN_EVERY_MS,
    logger,
    clock,
  });
  return jointPart(sending, cleaning);
}
