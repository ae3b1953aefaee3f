import type { ApiKeyId, GroupId } from '../ids.ts';
import { DEFAULT_RIGHTS, SERVICES, type User } from './user.ts';

/**
 * What an API key is for. `read`: all that changes nothing, and the live stream. `write`: changes. `commands`: commands
 * to terminals. `video`: the calls of the video service.
 */
export const API_KEY_SCOPES = ['read', 'write', 'commands', 'video'] as const;
export type ApiKeyScope = (typeof API_KEY_SCOPES)[number];

/** What a key allows at most, of what its account may do. */
export interface ApiKeyGrant {
  id: ApiKeyId;
  scopes: readonly ApiKeyScope[];
  /** Only vehicles of these groups, and what follows from them; null: all that the account may see. */
  groupIds: readonly GroupId[] | null;
  /** Grows with each change of the key. */
  version: number;
}

/** A caller, who may have come with an API key. */
export interface Keyed extends Pick<User, 'blocked'> {
  /** Absent: the account itself calls. */
  readonly viaKey?:
    | {
        readonly scopes: readonly ApiKeyScope[];
        /** Null: not limited to groups. */
        readonly groupIds: readonly GroupId[] | null;
        /** The account behind it, with all its rights. */
        readonly account: User;
      }
    | undefined;
}

/**
 * An account as it calls with an API key. Where the key is limited to groups, that is a plain user who was given these
 * groups, in the organisation of the account: whatever a user is not shown, such a key is not shown. What the account
 * itself may not see is checked besides, wherever rights are ({@link maySeeVehicle} and its siblings), so that a key
 * never has more than its account.
 */
export function callerWithKey(account: User, { scopes, groupIds }: Omit<ApiKeyGrant, 'id' | 'version'>): User & Keyed {
  const viaKey = { scopes, groupIds, account };
  if (groupIds === null) return { ...account, viaKey };
  if (account.role === 'user')
    return { ...account, groupIds: account.groupIds.filter((id) => groupIds.includes(id)), viaKey };
  return {
    ...account,
    role: 'user',
    // A dealer is its own organisation.
    dealerId: account.role === 'dealer' ? account.id : account.dealerId,
    services: SERVICES,
    rights: DEFAULT_RIGHTS,
    groupIds,
    viaKey,
  };
}

/** The account of a job, limited as the call was that asked for it. */
export function callerWithin(account: User, groupIds: readonly GroupId[] | null | undefined): User & Keyed {
  return groupIds == null ? account : callerWithKey(account, { scopes: API_KEY_SCOPES, groupIds });
}

/** The groups that the caller is limited to by its key; null: it is not. */
export function groupLimitOf({ viaKey }: Keyed): readonly GroupId[] | null {
  return viaKey?.groupIds ?? null;
}

/** May the caller's key be used for this? Without a key there is nothing to ask. */
export function hasScope({ viaKey }: Keyed, scope: ApiKeyScope): boolean {
  return viaKey === undefined || viaKey.scopes.includes(scope);
}

/** The account that calls, with or without a key. */
export function accountOf(caller: User & Keyed): User {
  return caller.viaKey?.account ?? caller;
}

/** The account behind a caller that is limited to groups; null: the caller is not. */
export function limitedAccount({ viaKey }: Keyed): User | null {
  return viaKey === undefined || viaKey.groupIds === null ? null : viaKey.account;
}

/** What all keys begin with, so that scanners for leaked secrets can find them. */
const PREFIX = 'outrider_';
const KEY = /^outrider_([0-9a-f]{32})_([\w-]{43})$/;

/** A key as its client sends it: the prefix, the id without dashes, and the secret. */
export function writeApiKey(id: ApiKeyId, secret: string): string {
  return `${PREFIX}${id.replaceAll('-', '')}_${secret}`;
}

/** Is it meant to be a key? Tokens of sessions never begin so. */
export function isApiKey(text: string): boolean {
  return text.startsWith(PREFIX);
}

/** Null: it is no key. */
export function parseApiKey(text: string): { id: ApiKeyId; secret: string } | null {
  const [, id, secret] = KEY.exec(text) ?? [];
  if (id === undefined || secret === undefined) return null;
  return { id: id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5') as ApiKeyId, secret };
}
