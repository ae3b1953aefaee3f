import { type EmailMessage, escapeHtml, mailLinkToken } from '@outrider/channels';
import { tenantOf, type User } from '@outrider/domain';
import { type MailAddress, type MailLimits, type Registry, TooManyAddressesError } from '@outrider/registry';
import { Counter, type Metrics } from '@outrider/runtime';
import type { Language } from '@outrider/words';
import { messagesIn } from '@outrider/words/messages';

export interface MailPolicyConfig {
  /** Public URL of the service, with which links in e-mails begin. */
  publicUrl: string;
  /** Whether the operator vouches for the address. */
  isTrusted(address: string): boolean;
  perAddress: MailLimits;
  perOwner: MailLimits;
}

/** Validity of an unsubscribe link: long enough for a mail that is read much later. RFC 8058 leaves it open. */
const UNSUBSCRIBE_FOR_MS = 400 * 86_400_000;

/**
 * Decides whether an e-mail may be sent to an address, and adds an unsubscribe link. All e-mails to addresses that
 * users entered pass through here.
 */
export class MailPolicy {
  readonly #config: MailPolicyConfig;
  readonly #registry: Pick<Registry, 'mailAddresses' | 'mailCounts'>;
  readonly #now: () => number;
  readonly #refused: Counter<'reason'>;

  constructor(
    config: MailPolicyConfig,
    registry: Pick<Registry, 'mailAddresses' | 'mailCounts'>,
    metrics: Metrics,
    now: () => number,
  ) {
    this.#config = config;
    this.#registry = registry;
    this.#now = now;
    this.#refused = new Counter({
      name: 'outrider_mails_refused_total',
      help: 'E-mails not sent, by reason: address pending, address unsubscribed, or a limit reached',
      labelNames: ['reason'],
      registers: [metrics],
    });
  }

  /**
   * @param owner of the rule or schedule that names the address
   * @param isFirst first attempt to send it; only this one counts towards the limits
   * @returns the address, or the reason why it gets nothing, for the owner to read
   */
  async admit(owner: User, target: string, isFirst: boolean): Promise<MailAddress | { cancelled: string }> {
    const { isTrusted, perAddress, perOwner } = this.#config;
    const address = await this.#addressOf(tenantOf(owner), target, isTrusted);
    if (address === undefined) return this.#refuse('pending', 'Too many addresses are waiting to be confirmed.');
    if (address.state === 'pending')
      return this.#refuse('pending', 'The holder of the address has not confirmed it yet.');
    if (address.state === 'unsubscribed')
      return this.#refuse('unsubscribed', 'The holder of the address unsubscribed from these e-mails.');
    const reached = isFirst
      ? await this.#registry.mailCounts.take(address, { address: perAddress, owner: perOwner })
      : null;
    return reached === null ? address : this.#refuse('limit', `The limit was reached: ${reached}.`);
  }

  /** The message with an unsubscribe link. */
  withUnsubscribe(message: EmailMessage, address: MailAddress, language: Language): EmailMessage {
    const { publicUrl } = this.#config;
    const token = mailLinkToken(address, 'unsubscribe', this.#now() + UNSUBSCRIBE_FOR_MS);
    const unsubscribeUrl = `${publicUrl}/email/unsubscribe?token=${token}&language=${language}`;
    const { footer } = messagesIn(language).words;
    const why = footer.why(publicUrl);
    return {
      ...message,
      text: `${message.text}\n-- \n${why}\n${footer.unsubscribe}: ${unsubscribeUrl}\n`,
      ...(message.html !== undefined && {
        html: message.html.replace(
          '</body>',
          `<p style="font-size:smaller">${escapeHtml(why)} <a href="${escapeHtml(unsubscribeUrl)}">${escapeHtml(footer.unsubscribe)}</a></p></body>`,
        ),
      }),
      unsubscribeUrl,
    };
  }

  async #addressOf(tenant: string, target: string, isTrusted: (address: string) => boolean) {
    try {
      const [address] = (await this.#registry.mailAddresses.request(tenant, [target], isTrusted)).values();
      return address;
    } catch (error) {
      if (error instanceof TooManyAddressesError) return undefined;
      throw error;
    }
  }

  #refuse(reason: string, cancelled: string): { cancelled: string } {
    this.#refused.inc({ reason });
    return { cancelled };
  }
}
