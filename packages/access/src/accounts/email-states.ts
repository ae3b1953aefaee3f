import { type Directory, tenantOf, type UserId } from '@outrider/domain';
import { type MailAddressState, type Registry, TooManyAddressesError } from '@outrider/registry';
import { readerOf } from '../notifications/reader.ts';
import { Problem } from '../problem.ts';

/** An address that a rule or a schedule names, and whether it gets e-mails. */
interface EmailState {
  address: string;
  state: MailAddressState;
  suppressedToday: number;
}

export interface ListedEmails {
  emailStates: EmailState[];
}

export interface EmailStateSources {
  registry: Pick<Registry, 'mailAddresses' | 'preferences'>;
  directory: Directory;
  config: {
    /** Whether the operator vouches for an e-mail address. Default: for none. */
    isTrustedAddress?: (address: string) => boolean;
  };
}

interface Emailing {
  ownerId: UserId;
  emails: readonly string[];
}

/** States of the addresses that users enter: which of them receive e-mails. */
export class EmailStates {
  readonly #sources: EmailStateSources;

  constructor(sources: EmailStateSources) {
    this.#sources = sources;
  }

  /** Adds to rules or schedules the state of each of their addresses. */
  async addToAll<T extends Emailing>(items: readonly T[]): Promise<(T & ListedEmails)[]> {
    const { mailAddresses } = this.#sources.registry;
    const known = new Map<string, Awaited<ReturnType<typeof mailAddresses.statuses>>>();
    for (const [tenant, some] of Map.groupBy(items, (item) => this.#tenantOf(item.ownerId))) {
      const addresses = [...new Set(some.flatMap(({ emails }) => emails))];
      if (addresses.length > 0) known.set(tenant, await mailAddresses.statuses(tenant, addresses));
    }
    return items.map((item) => ({
      ...item,
      emailStates: item.emails.map((address) => {
        const found = known.get(this.#tenantOf(item.ownerId))?.get(address);
        const isTrusted = this.#isTrusted(address) && found?.state !== 'unsubscribed';
        return {
          address,
          state: isTrusted ? 'confirmed' : (found?.state ?? 'pending'),
          suppressedToday: found?.suppressed ?? 0,
        };
      }),
    }));
  }

  async addTo<T extends Emailing>(item: T): Promise<T & ListedEmails> {
    const [listed] = await this.addToAll([item]);
    return { ...item, emailStates: listed?.emailStates ?? [] };
  }

  /**
   * Asks the holders of new addresses to consent to e-mails.
   *
   * @param language of the e-mails; null: the owner's
   * @throws {Problem} when too many addresses wait for their confirmation
   */
  async request(ownerId: UserId, emails: readonly string[], language: string | null): Promise<void> {
    if (emails.length === 0) return;
    const { registry } = this.#sources;
    const named = { language: language ?? (await readerOf(registry, ownerId, 'UTC')).language };
    try {
      await registry.mailAddresses.request(
        this.#tenantOf(ownerId),
        emails,
        (address) => this.#isTrusted(address),
        named,
      );
    } catch (error) {
      if (error instanceof TooManyAddressesError)
        throw new Problem(
          'conflict',
          `${error.most} addresses are already waiting to be confirmed. Give fewer new ones.`,
          {
            errors: [{ pointer: '/emails', detail: 'Too many addresses are waiting to be confirmed.' }],
          },
        );
      throw error;
    }
  }

  #isTrusted(address: string): boolean {
    return this.#sources.config.isTrustedAddress?.(address) ?? false;
  }

  #tenantOf(userId: UserId): string {
    const user = this.#sources.directory.users.get(userId);
    return user === undefined ? userId : tenantOf(user);
  }
}
