import type { GroupId, UserId } from '../ids.ts';
import type { CustomFields } from './custom-fields.ts';

/** What a user may use beyond the vehicles themselves; operators and dealers may by their role. */
export const SERVICES = ['video', 'commands', 'command-text', 'maintenance'] as const;
export type ServiceName = (typeof SERVICES)[number];

/**
 * What a user may change beyond their own settings; operators and dealers may by their role. `edit-vehicles`: profiles
 * and sensors of vehicles of the user's groups. `edit-geofences`: geofences of the user's own. `edit-notifications`:
 * notification rules, message channels and report schedules. `share`: links that show vehicles to others.
 */
export const ACCOUNT_RIGHTS = ['edit-vehicles', 'edit-geofences', 'edit-notifications', 'share'] as const;
export type AccountRight = (typeof ACCOUNT_RIGHTS)[number];

/** What users may change where nothing else is said. Without any right an account is read-only. */
export const DEFAULT_RIGHTS = ['edit-geofences', 'edit-notifications', 'share'] as const satisfies AccountRight[];

export type Role = 'operator' | 'dealer' | 'user';

/** An account. Its `dealerId` is null for operators and dealers, and for users that the operator keeps. */
export interface User extends CustomFields {
  kind: 'user';
  id: UserId;
  version: number;
  login: string;
  name: string;
  role: Role;
  dealerId: UserId | null;
  blocked: boolean;
  /** The right to use the API, granted by an operator alone. */
  apiAccess: boolean;
  /** Services that the account was granted. */
  services: readonly ServiceName[];
  /** What a user may change. */
  rights: readonly AccountRight[];
  /** Groups whose vehicles the user may see. */
  groupIds: readonly GroupId[];
}
