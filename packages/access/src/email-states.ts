import { type Directory, tenantOf, type UserId } from '@outrider/domain';
import { type MailAddressState, type Registry, TooManyAddressesError } from '@outrider/registry';
import { Problem } from './problem.ts';

/** An address that a rule or a schedule names, and whether it gets e-mails. */
export interface EmailState {
  address: string;
  state: MailAddressState;
  suppressedToday: number;
}

export interface EmailStateSources {
  registry: Pick<Registry, 'mailAddresses'>;
  directory: Directory;
  /** Whether the operator vouches for an address. */
  isTrustedAddress: (address: string) => boolean;
}

interface Emailing {
  ownerId: UserId;
  emails: readonly string[];
}

/** Those that name addresses, with what became of each. */
export async function withEmailStates<T extends Emailing>(
  items: readonly T[],
  { registry, directory, isTrustedAddress }: EmailStateSources,
): Promise<(T & { emailStates: EmailState[] })[]> {
  const byTenant = Map.groupBy(items, (item) => tenantIn(directory, item.ownerId));
  const states = new Map<string, Map<string, { state: MailAddressState; suppressed: number }>>();
  for (const [tenant, some] of byTenant) {
    const addresses = [...new Set(some.flatMap(({ emails }) => emails))];
    if (addresses.length > 0) states.set(tenant, await registry.mailAddresses.standings(tenant, addresses));
  }
  return items.map((item) => ({
    ...item,
    emailStates: item.emails.map((address) => {
      const known = states.get(tenantIn(directory, item.ownerId))?.get(address);
      const isVouchedFor = isTrustedAddress(address) && known?.state !== 'unsubscribed';
      return {
        address,
        state: isVouchedFor ? 'confirmed' : (known?.state ?? 'pending'),
        suppressedToday: known?.suppressed ?? 0,
      };
    }),
  }));
}

/**
 * Has the holders of new addresses asked whether they want e-mails.
 *
 * @throws {Problem} when too many of them have not said so yet
 */
export async function requestEmails(
  ownerId: UserId,
  emails: readonly string[],
  { registry, directory, isTrustedAddress }: EmailStateSources,
): Promise<void> {
  if (emails.length === 0) return;
  try {
    await registry.mailAddresses.request(tenantIn(directory, ownerId), emails, isTrustedAddress, true);
  } catch (error) {
    if (error instanceof TooManyAddressesError)
      throw new Problem('conflict', `${error.most} addresses wait for their confirmation already: name fewer.`, {
        errors: [{ pointer: '/emails', detail: 'Too many addresses wait for their confirmation.' }],
      });
    throw error;
  }
}

function tenantIn(directory: Directory, userId: UserId): string {
  const user = directory.users.get(userId);
  return user === undefined ? userId : tenantOf(user);
}
