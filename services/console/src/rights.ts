import type { User } from '@outrider/client';

export const isOperator = ({ role }: User): boolean => role === 'operator';
/** Operators and dealers manage users, vehicles and groups. */
export const keepsAccounts = ({ role }: User): boolean => role !== 'user';

/** Operators and dealers may send commands, users where it was granted to them. */
export const mayCommand = ({ role, services }: User): boolean => role !== 'user' || services.includes('commands');

/** Whether the user has the right. Operators and dealers have all rights by their role. */
export const hasRight = ({ role, rights }: User, right: User['rights'][number]): boolean =>
  role !== 'user' || rights.includes(right);
