import type { GroupId, UserId } from '../ids.ts';
import type { CustomFields } from './custom-fields.ts';

/** Services that users can be granted beyond seeing vehicles; operators and dealers have them by their role. */
export const SERVICES = ['video', 'commands', 'command-text', 'maintenance'] as const;
export type ServiceName = (typeof SERVICES)[number];

/**
 * Changes that a user can be allowed beyond their own settings; operators and dealers may make them by their role.
 * `edit-vehicles`: profiles and sensors of vehicles of the user's groups. `edit-geofences`: the user's own geofences.
 * `edit-notifications`: notification rules, message channels and report schedules. `share`: links that show vehicles to
 * others.
 */
export const ACCOUNT_RIGHTS = ['edit-vehicles', 'edit-geofences', 'edit-notifications', 'share'] as const;
export type AccountRight = (typeof ACCOUNT_RIGHTS)[number];

/** Default rights of users. An account without any right is read-only. */
export const DEFAULT_RIGHTS = ['edit-geofences', 'edit-notifications', 'share'] as const satisfies AccountRight[];

export type Role = 'operator' | 'dealer' | 'user';

/** An account. Its `dealerId` is null for operators, dealers, and users that belong to the operator. */
export interface User extends CustomFields {
  kind: 'user';
  id: UserId;
  version: number;
  login: string;
  name: string;
  role: Role;
  dealerId: UserId | null;
  blocked: boolean;
  /** Whether the account may use the API; only an operator grants this. */
  apiAccess: boolean;
  /** Services that the account was granted. */
  services: readonly ServiceName[];
  rights: readonly AccountRight[];
  /** Groups whose vehicles the user may see. */
  groupIds: readonly GroupId[];
}
