import { randomBytes } from 'node:crypto';
import type { OpenIdIdentity } from '@outrider/auth';
import {
  ACCOUNT_RIGHTS,
  type AccountRight,
  type Directory,
  type GroupId,
  SERVICES,
  type ServiceName,
  type SessionId,
  type User,
  type UserId,
} from '@outrider/domain';
import { ConflictError, NotFoundError, type Registry } from '@outrider/registry';
import { notFound, Problem } from '../problem.ts';
import { requirePerson } from '../rights.ts';
import { type OwnPasswordSources, requireOwnPassword } from './own-password.ts';

/** Which claims of a provider say what an account may; null: no claim says it, and accounts keep what they have. */
export interface ClaimsMapping {
  /** Its values make an operator's account, else a dealer's, else it is a user's. */
  roleClaim: string | null;
  operatorValues: readonly string[];
  /** They make a dealer's account at the first sign-in; the role of a dealer does not change later. */
  dealerValues: readonly string[];
  /** Has the login of the dealer that the user belongs to. */
  dealerClaim: string | null;
  /** Has names of vehicle groups of that dealer, or of the operator. */
  groupsClaim: string | null;
  /** Its values are all that a user is granted: rights and services. */
  rightsClaim: string | null;
  /** What each value of that claim grants; null: the values are names of rights and services themselves. */
  rightsValues: ReadonlyMap<string, readonly Grantable[]> | null;
}

/** What a user may be granted, as the settings name it. */
export const GRANTABLE = [...ACCOUNT_RIGHTS, ...SERVICES] as const;
export type Grantable = AccountRight | ServiceName;

interface Grants {
  role?: 'operator' | 'dealer' | 'user';
  dealerId?: UserId | null;
  groupIds?: readonly GroupId[];
  rights?: readonly AccountRight[];
  services?: readonly ServiceName[];
}

export interface ExternalSignInSources {
  registry: Pick<Registry, 'users' | 'externalIdentities'>;
  directory: Directory;
}

const MAX_LOGIN_CHARACTERS = 90;
const MAX_NAME_CHARACTERS = 200;
/** Accounts of the same login that are tried by number. */
const MAX_NAMESAKES = 20;

/**
 * The account of somebody whom a provider knows, as the claims now have it. It is made at the first sign-in. Accounts
 * are matched by issuer and subject alone: a login or an e-mail address is whatever the provider lets people type. An
 * account that its user linked keeps what it was granted here.
 *
 * @throws {Problem} `conflict` where claims made a dealer's account and no longer say so
 */
export async function accountOfIdentity(
  { registry, directory }: ExternalSignInSources,
  { issuer, subject, claims }: OpenIdIdentity,
  mapping: ClaimsMapping,
): Promise<User> {
  const granted = grantsOf(claims, mapping, directory);
  const known = await registry.externalIdentities.find(issuer, subject);
  if (known === null) {
    const made = await create(registry, claims, granted);
    if (await registry.externalIdentities.add(issuer, subject, made.id)) return made;
    // Another sign-in of the same person was faster.
    await registry.users.delete(made.id, null);
    return accountOfIdentity({ registry, directory }, { issuer, subject, claims }, mapping);
  }
  const current = await registry.users.get(known.userId);
  if (current === null) throw new Problem('conflict', 'The account was deleted at this moment.');
  if (known.isLinked) return current;
  const { role, ...rest } = granted;
  if (current.role === 'dealer') {
    if (role !== undefined && role !== 'dealer')
      throw new Problem('conflict', 'The account is a dealer’s, and its claims no longer say so.');
    return current;
  }
  // What is a dealer's hangs together with the role: an account that exists does not become one.
  return registry.users.update(
    known.userId,
    null,
    role === undefined ? rest : { ...rest, role: role === 'operator' ? role : 'user' },
  );
}

/**
 * Has an account signed in to by somebody whom a provider knows.
 *
 * @returns false where another account has this identity
 */
export async function linkIdentity(
  { registry }: Pick<ExternalSignInSources, 'registry'>,
  { issuer, subject }: OpenIdIdentity,
  user: User,
): Promise<boolean> {
  if (await registry.externalIdentities.link(issuer, subject, user)) return true;
  return (await registry.externalIdentities.find(issuer, subject))?.userId === user.id;
}

/** The link of one caller to a provider that they sign in by. */
export class ExternalSignInAccess {
  readonly #caller: User;
  readonly #sources: OwnPasswordSources & ExternalSignInSources;

  /** @throws {Problem} where the caller came with an API key */
  constructor(caller: User, sources: OwnPasswordSources & ExternalSignInSources) {
    requirePerson(caller);
    this.#caller = caller;
    this.#sources = sources;
  }

  isLinked(issuer: string): Promise<boolean> {
    return this.#sources.registry.externalIdentities.isKnown(issuer, this.#caller.id);
  }

  /** Before the caller is sent to the provider. */
  requirePassword(currentPassword: string, sessionId: SessionId): Promise<void> {
    return requireOwnPassword(this.#caller, this.#sources, currentPassword, sessionId);
  }

  /** The password is the way in that is left. */
  async unlink(issuer: string, currentPassword: string, sessionId: SessionId): Promise<void> {
    await this.requirePassword(currentPassword, sessionId);
    await this.#sources.registry.externalIdentities.unlink(issuer, this.#caller).catch((error) => {
      throw error instanceof NotFoundError ? notFound() : error;
    });
  }
}

function grantsOf(claims: OpenIdIdentity['claims'], mapping: ClaimsMapping, directory: Directory): Grants {
  const { roleClaim, operatorValues, dealerValues, dealerClaim, groupsClaim } = mapping;
  const roles = roleClaim === null ? [] : valuesOf(claims, roleClaim);
  const has = (values: readonly string[]) => roles.some((value) => values.includes(value));
  const role = has(operatorValues) ? 'operator' : has(dealerValues) ? 'dealer' : 'user';
  const grants: Grants = roleClaim === null ? {} : { role };
  const dealers = dealerClaim === null ? [] : valuesOf(claims, dealerClaim);
  const dealer = [...directory.users.values()].find((user) => user.role === 'dealer' && dealers.includes(user.login));
  // Only users belong to a dealer.
  if (role !== 'user') grants.dealerId = null;
  else if (dealerClaim !== null) grants.dealerId = dealer?.id ?? null;
  if (groupsClaim !== null && role !== 'dealer') {
    const names = valuesOf(claims, groupsClaim);
    const scope = role === 'operator' ? null : (dealer?.id ?? null);
    grants.groupIds = [...directory.groups.values()]
      .filter(({ name, dealerId }) => dealerId === scope && names.includes(name))
      .map(({ id }) => id);
  }
  // Operators and dealers may all of it by their role.
  return role === 'user' ? { ...grants, ...rightsOf(claims, mapping) } : grants;
}

function rightsOf(
  claims: OpenIdIdentity['claims'],
  { rightsClaim, rightsValues }: ClaimsMapping,
): Pick<Grants, 'rights' | 'services'> {
  if (rightsClaim === null) return {};
  const values = valuesOf(claims, rightsClaim);
  const named = new Set(rightsValues === null ? values : values.flatMap((value) => rightsValues.get(value) ?? []));
  return {
    rights: ACCOUNT_RIGHTS.filter((right) => named.has(right)),
    services: SERVICES.filter((service) => named.has(service)),
  };
}

/** A claim of a name, or inside others as `realm_access.roles`. */
function valuesOf(claims: OpenIdIdentity['claims'], claim: string): string[] {
  let value: unknown = claims[claim];
  if (value === undefined) {
    value = claims;
    for (const step of claim.split('.'))
      value =
        typeof value === 'object' && value !== null && Object.hasOwn(value, step)
          ? (value as Record<string, unknown>)[step]
          : undefined;
  }
  return (Array.isArray(value) ? value : [value]).filter((each): each is string => typeof each === 'string');
}

async function create(registry: ExternalSignInSources['registry'], claims: OpenIdIdentity['claims'], grants: Grants) {
  const [preferred] = ['preferred_username', 'email', 'name', 'sub'].flatMap((claim) => valuesOf(claims, claim));
  const login = plainLine(preferred ?? 'user', MAX_LOGIN_CHARACTERS) || 'user';
  const name = plainLine(valuesOf(claims, 'name')[0] ?? login, MAX_NAME_CHARACTERS) || login;
  const { role = 'user', dealerId = null, groupIds, ...rights } = grants;
  for (let nth = 1; ; nth++)
    try {
      const user = await registry.users.create(
        {
          login: nth === 1 ? login : `${login} ${nth}`,
          name,
          role,
          dealerId,
          blocked: false,
          apiAccess: false,
          groupIds: [],
          ...rights,
        },
        // Nobody knows it: the provider is the way in.
        randomBytes(32).toString('base64url'),
      );
      return groupIds === undefined ? user : await registry.users.update(user.id, null, { groupIds });
    } catch (error) {
      if (!(error instanceof ConflictError) || error.field !== 'login' || nth === MAX_NAMESAKES) throw error;
    }
}

function plainLine(text: string, maxCharacters: number): string {
  return text
    .replaceAll(/\p{Cc}/gu, ' ')
    .trim()
    .slice(0, maxCharacters)
    .trim();
}
