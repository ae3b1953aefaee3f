import type { ApiKeyId, GroupId } from '../ids.ts';
import { DEFAULT_RIGHTS, SERVICES, type User } from './user.ts';

/**
 * Permissions of an API key. `read`: all calls that change nothing, and the live stream. `write`: changes. `commands`:
 * commands to terminals. `video`: the calls of the video service.
 */
export const API_KEY_SCOPES = ['read', 'write', 'commands', 'video'] as const;
export type ApiKeyScope = (typeof API_KEY_SCOPES)[number];

/** Upper limit on the rights of an API key; the rights of its account limit it further. */
export interface ApiKeyGrant {
  id: ApiKeyId;
  scopes: readonly ApiKeyScope[];
  /** Groups whose vehicles, and data that follows from them, the key may access; null: not limited to groups. */
  groupIds: readonly GroupId[] | null;
  /** Grows with each change of the key. */
  version: number;
}

/** A caller, authenticated by its account or by an API key. */
export interface Keyed extends Pick<User, 'blocked'> {
  /** Absent: the account itself calls. */
  readonly viaKey?:
    | {
        readonly scopes: readonly ApiKeyScope[];
        /** Null: not limited to groups. */
        readonly groupIds: readonly GroupId[] | null;
        /** The account that owns the key, with all its rights. */
        readonly account: User;
      }
    | undefined;
}

/**
 * The caller for an account that calls with an API key. A key limited to groups acts as a plain user with these groups,
 * in the organisation of the account, and sees no more than such a user. Wherever rights are checked
 * ({@link maySeeVehicle} and its siblings), the rights of the account are checked as well, so that a key never exceeds
 * its account.
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

/** The account of a job, with the group limit of the call that requested the job. */
export function callerWithin(account: User, groupIds: readonly GroupId[] | null | undefined): User & Keyed {
  return groupIds == null ? account : callerWithKey(account, { scopes: API_KEY_SCOPES, groupIds });
}

/** Groups to which the caller's key is limited; null: not limited. */
export function groupLimitOf({ viaKey }: Keyed): readonly GroupId[] | null {
  return viaKey?.groupIds ?? null;
}

/** Whether the caller's key has this scope. A caller without a key has all scopes. */
export function hasScope({ viaKey }: Keyed, scope: ApiKeyScope): boolean {
  return viaKey === undefined || viaKey.scopes.includes(scope);
}

/** The account of the caller, with or without a key. */
export function accountOf(caller: User & Keyed): User {
  return caller.viaKey?.account ?? caller;
}

/** The account behind a caller that is limited to groups; null: the caller is not limited. */
export function limitedAccount({ viaKey }: Keyed): User | null {
  return viaKey === undefined || viaKey.groupIds === null ? null : viaKey.account;
}

/** Prefix of all keys, so that scanners for leaked secrets can find them. */
const PREFIX = 'outrider_';
const KEY = /^outrider_([0-9a-f]{32})_([\w-]{43})$/;

/** A key in the form that clients send: the prefix, the id without dashes, and the secret. */
export function writeApiKey(id: ApiKeyId, secret: string): string {
  return `${PREFIX}${id.replaceAll('-', '')}_${secret}`;
}

/** Whether the text has the prefix of keys, which session tokens never have. */
export function isApiKey(text: string): boolean {
  return text.startsWith(PREFIX);
}

/** Null: not a valid key. */
export function parseApiKey(text: string): { id: ApiKeyId; secret: string } | null {
  const [, id, secret] = KEY.exec(text) ?? [];
  if (id === undefined || secret === undefined) return null;
  return { id: id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5') as ApiKeyId, secret };
}
