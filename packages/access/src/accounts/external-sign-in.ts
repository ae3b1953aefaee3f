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

/**
 * Claims of a provider that determine the rights of an account; null: no claim does, and accounts keep what they have.
 */
export interface ClaimsMapping {
  /** Claim of the role: operator or dealer by the values below, otherwise user. */
  roleClaim: string | null;
  operatorValues: readonly string[];
  /** Values that make a dealer's account at the first sign-in; a dealer's role does not change later. */
  dealerValues: readonly string[];
  /** Claim with the login of the user's dealer. */
  dealerClaim: string | null;
  /** Claim with names of vehicle groups, which belong to that dealer or to the operator. */
  groupsClaim: string | null;
  /** Claim with all rights and services of a user. */
  rightsClaim: string | null;
  /** Rights that each value of that claim grants; null: the values are themselves names of rights and services. */
  rightsValues: ReadonlyMap<string, readonly Grantable[]> | null;
}

/** Rights and services that a user may be granted, as named in the settings. */
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
/** Most numbered variants of a login that are tried if it is taken. */
const MAX_NAMESAKES = 20;

/**
 * Finds or creates the account of an identity at a provider, and updates it from the claims. Accounts are matched only
 * by issuer and subject, because providers may let people choose any login or e-mail address. An account that its user
 * linked keeps the rights granted here.
 *
 * @throws {Problem} `conflict` when claims made a dealer's account and no longer say so
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
    // A concurrent sign-in of the same person created the account first.
    await registry.users.delete(made.id, null);
    return accountOfIdentity({ registry, directory }, { issuer, subject, claims }, mapping);
  }
  const current = await registry.users.get(known.userId);
  if (current === null) throw new Problem('conflict', 'The account was deleted in the meantime.');
  if (known.isLinked) return current;
  const { role, ...rest } = granted;
  if (current.role === 'dealer') {
    if (role !== undefined && role !== 'dealer')
      throw new Problem('conflict', 'The account has the role dealer, but the claims of the provider no longer do.');
    return current;
  }
  // A dealer's data depends on the role, so an existing account does not become a dealer.
  return registry.users.update(
    known.userId,
    null,
    role === undefined ? rest : { ...rest, role: role === 'operator' ? role : 'user' },
  );
}

/**
 * Links an account to an identity at a provider.
 *
 * @returns false if the identity is linked to another account
 */
export async function linkIdentity(
  { registry }: Pick<ExternalSignInSources, 'registry'>,
  { issuer, subject }: OpenIdIdentity,
  user: User,
): Promise<boolean> {
  if (await registry.externalIdentities.link(issuer, subject, user)) return true;
  return (await registry.externalIdentities.find(issuer, subject))?.userId === user.id;
}

/** Link of one caller to an external sign-in provider. */
export class ExternalSignInAccess {
  readonly #caller: User;
  readonly #sources: OwnPasswordSources & ExternalSignInSources;

  /** @throws {Problem} when the caller uses an API key */
  constructor(caller: User, sources: OwnPasswordSources & ExternalSignInSources) {
    requirePerson(caller);
    this.#caller = caller;
    this.#sources = sources;
  }

  isLinked(issuer: string): Promise<boolean> {
    return this.#sources.registry.externalIdentities.isKnown(issuer, this.#caller.id);
  }

  /** Checks the caller's password before they are redirected to the provider. */
  requirePassword(currentPassword: string, sessionId: SessionId): Promise<void> {
    return requireOwnPassword(this.#caller, this.#sources, currentPassword, sessionId);
  }

  /** Removes the link. The account then signs in by password, so the password is required. */
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
  // Operators and dealers have all rights by their role.
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

/** Values of a claim, found by its name or by a path such as `realm_access.roles`. */
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
        // Nobody knows the random password: the account signs in through the provider.
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
