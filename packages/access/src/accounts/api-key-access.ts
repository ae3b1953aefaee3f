import type { Tokens } from '@outrider/auth';
import type { ApiKeyId, Directory, GroupId, User, UserId } from '@outrider/domain';
import {
  type ApiKey,
  type ApiKeyFields,
  type Page,
  type Paging,
  type Registry,
  TooManyApiKeysError,
} from '@outrider/registry';
import { badField, notFound, Problem } from '../problem.ts';
import { current } from '../registry-refusals.ts';
import { maySeeSessions, requirePerson, rightToGroup, rightToUser } from '../rights.ts';

export interface ApiKeySources {
  registry: Pick<Registry, 'apiKeys'>;
  directory: Directory;
  tokens: Pick<Tokens, 'revokeApiKey'>;
}

const DAY_MS = 86_400_000;
/** Longest validity of a key that expires: ten years. */
export const MAX_API_KEY_DAYS = 3650;
export const MAX_GROUPS_OF_API_KEY = 100;

/**
 * API keys that one caller may see. Callers manage their own keys; they may also see and revoke those of users whose
 * sessions they may see.
 */
export class ApiKeyAccess {
  readonly #caller: User;
  readonly #sources: ApiKeySources;

  /** @throws {Problem} when the caller uses an API key */
  constructor(caller: User, sources: ApiKeySources) {
    requirePerson(caller);
    this.#caller = caller;
    this.#sources = sources;
  }

  /** @returns the key, and its text for the client, which cannot be retrieved again */
  async add(fields: ApiKeyFields, nowMs: number): Promise<{ key: ApiKey; text: string }> {
    if (!this.#caller.apiAccess)
      throw new Problem('no-api-access', 'This account has no right to use the API. An operator can grant it.');
    this.#requireGroups(fields.groupIds, null);
    requireExpiry(fields.expiresAtMs, nowMs);
    try {
      return await this.#sources.registry.apiKeys.create(this.#caller.id, fields);
    } catch (error) {
      if (error instanceof TooManyApiKeysError)
        throw new Problem(
          'conflict',
          `An account may have at most ${error.most} API keys. Revoke one that is not used.`,
        );
      throw error;
    }
  }

  /** @param userId of another account; null: the caller's own */
  async list(userId: UserId | null, paging: Paging): Promise<Page<ApiKey>> {
    const { registry, directory } = this.#sources;
    if (userId !== null && userId !== this.#caller.id) {
      if (rightToUser(this.#caller, directory.users.get(userId)) === 'none') throw notFound();
      if (!maySeeSessions(this.#caller, userId))
        throw new Problem('forbidden', 'Only the account itself and operators may see its API keys.');
    }
    const page = await registry.apiKeys.list(userId ?? this.#caller.id, paging);
    return { ...page, items: page.items.map((key) => this.#shown(key)) };
  }

  async get(id: ApiKeyId): Promise<ApiKey> {
    return this.#shown(await this.#key(id));
  }

  async change(id: ApiKeyId, ifMatch: number | null, patch: Partial<ApiKeyFields>, nowMs: number): Promise<ApiKey> {
    const key = await this.#key(id);
    if (key.userId !== this.#caller.id)
      throw new Problem('forbidden', 'Only the account that owns an API key can change it. You can revoke it.');
    if (patch.groupIds !== undefined) this.#requireGroups(patch.groupIds, key.groupIds);
    if (patch.expiresAtMs !== undefined) requireExpiry(patch.expiresAtMs, nowMs);
    const changed = await current(this.#sources.registry.apiKeys.update(id, ifMatch, patch));
    this.#sources.tokens.revokeApiKey(id);
    return this.#shown(changed);
  }

  async revoke(id: ApiKeyId, ifMatch: number | null): Promise<void> {
    await this.#key(id);
    await current(this.#sources.registry.apiKeys.delete(id, ifMatch));
    this.#sources.tokens.revokeApiKey(id);
  }

  async #key(id: ApiKeyId): Promise<ApiKey> {
    const key = await this.#sources.registry.apiKeys.get(id);
    if (key === null || !maySeeSessions(this.#caller, key.userId)) throw notFound();
    return key;
  }

  /** @param known groups that the key already has: they may stay, even if the caller no longer sees them */
  #requireGroups(groupIds: readonly GroupId[] | null, known: readonly GroupId[] | null): void {
    for (const [nth, id] of (groupIds ?? []).entries())
      if (!this.#sees(id) && !known?.includes(id)) throw badField(`/groupIds/${nth}`, 'There is no such group.');
  }

  /** The key without groups that are deleted or no longer visible to the caller. */
  #shown(key: ApiKey): ApiKey {
    return { ...key, groupIds: key.groupIds?.filter((id) => this.#sees(id)) ?? null };
  }

  #sees(id: GroupId): boolean {
    return rightToGroup(this.#caller, this.#sources.directory.groups.get(id)) !== 'none';
  }
}

function requireExpiry(expiresAtMs: number | null, nowMs: number): void {
  if (expiresAtMs === null) return;
  if (expiresAtMs <= nowMs) throw badField('/expiresAt', 'It must be in the future.');
  if (expiresAtMs > nowMs + MAX_API_KEY_DAYS * DAY_MS)
    throw badField('/expiresAt', `It must be at most ${MAX_API_KEY_DAYS} days from now, or null.`);
}
