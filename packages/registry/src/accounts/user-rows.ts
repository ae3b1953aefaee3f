import {
  type AccountRight,
  DEFAULT_RIGHTS,
  type GroupId,
  type Role,
  type ServiceName,
  type User,
  type UserId,
} from '@outrider/domain';
import { customColumnsOf, customFieldsOf } from '../fleet/custom-fields.ts';
import { groupsOf } from '../fleet/memberships.ts';
import { StoredDefinitions } from '../store/resource.ts';
import type { UserRow } from '../store/schema.ts';
import type { Reader } from '../store/store.ts';

/** Reasons for an account to be blocked: itself, its dealer, or its expiry. */
export interface Blocks {
  own: boolean;
  byDealer: boolean;
  expired: boolean;
}

/** Rows hold the reasons of a block, which a {@link User} does not: they are written by `Users`. */
export const USERS = new StoredDefinitions<User, UserRow>({ kind: 'user', table: 'users', read: usersOf });

/** The users of these rows, with their groups. */
export async function usersOf(db: Reader, rows: readonly UserRow[]): Promise<User[]> {
  const ids = rows.map((row) => row.id);
  const groups = await groupsOf(db, 'userGroupAccess', ids);
  return rows.map((row) => fromUserRow(row, groups.get(row.id) ?? []));
}

export function fromUserRow(row: UserRow, groupIds: readonly GroupId[]): User {
  return {
    kind: 'user',
    id: row.id as UserId,
    version: row.version,
    login: row.login,
    name: row.name,
    role: row.role as Role,
    dealerId: row.dealerId as UserId | null,
    blocked: row.blocked === 1 || row.dealerBlocked === 1 || row.expired === 1,
    apiAccess: row.apiAccess === 1,
    services: row.services === '' ? [] : (row.services.split(',') as ServiceName[]),
    rights: rightsOf(row.rights),
    groupIds,
    ...customFieldsOf(row),
  };
}

/** @param column undefined: an early migration reads the row, from before rights existed */
function rightsOf(column: string | undefined): readonly AccountRight[] {
  if (column === undefined) return DEFAULT_RIGHTS;
  return column === '' ? [] : (column.split(',') as AccountRight[]);
}

export function toUserRow(user: User, { own, byDealer, expired }: Blocks): UserRow {
  return {
    id: user.id,
    version: user.version,
    login: user.login,
    loginKey: loginKey(user.login),
    name: user.name,
    role: user.role,
    dealerId: user.dealerId,
    blocked: own ? 1 : 0,
    dealerBlocked: byDealer ? 1 : 0,
    expired: expired ? 1 : 0,
    apiAccess: user.apiAccess ? 1 : 0,
    services: user.services.join(','),
    rights: user.rights.join(','),
    ...customColumnsOf(user),
  };
}

/** A login in the form in which logins are compared. */
export function loginKey(login: string): string {
  return login.normalize('NFKC').toLowerCase();
}

export function idsOf(rows: readonly { id: string }[]): string[] {
  return rows.map((row) => row.id);
}
