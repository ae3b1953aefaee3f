import type { NewUser, User, UserPatch } from '@outrider/client';
import { type CustomAttributes, type CustomDraft, customPatch } from '../../custom-fields/attributes.ts';

export type Service = User['services'][number];
/** Services that can be granted to a user, in the order of the form. */
export const SERVICES = ['video', 'commands', 'command-text', 'maintenance'] as const satisfies readonly Service[];

export type Right = User['rights'][number];
/** Rights that a user can have, in the order of the form. */
export const RIGHTS = ['edit-vehicles', 'edit-geofences', 'edit-notifications', 'share'] as const satisfies Right[];

/** Form state of an account. */
export interface UserDraft extends CustomDraft {
  login: string;
  name: string;
  role: User['role'];
  /** Null: the account belongs to the operator. */
  dealerId: string | null;
  /** Only for a new account. One with an e-mail address has no password: its user gets an invitation. */
  password: string;
  email: string;
  apiAccess: boolean;
  /** Services that were granted to the user. */
  services: readonly Service[];
  /** What a user may change; nothing: the account is read-only. */
  rights: readonly Right[];
  groupIds: readonly string[];
}

export function newDraft(password: string): UserDraft {
  return {
    login: '',
    name: '',
    role: 'user',
    dealerId: null,
    password,
    email: '',
    apiAccess: false,
    services: [],
    rights: ['edit-geofences', 'edit-notifications', 'share'],
    groupIds: [],
    externalId: null,
    customAttributes: {},
  };
}

export function draftOf({ id: _, blocked: __, ...draft }: User): UserDraft {
  return { ...draft, password: '', email: '' };
}

/** @param isOperator only operators choose the dealer of an account and grant API access */
export function newUserBody(draft: UserDraft, isOperator: boolean): NewUser {
  const { login, name, password, email, role, dealerId, apiAccess, services, rights, groupIds, ...rest } = draft;
  const { externalId, customAttributes } = rest;
  const isUser = role === 'user';
  return {
    login,
    name: name.trim() === '' ? login : name,
    ...(email.trim() === '' ? { password } : { email: email.trim() }),
    role,
    ...(isOperator && isUser ? { dealerId } : {}),
    ...(isOperator ? { apiAccess } : {}),
    services: isUser ? [...services] : [],
    ...(isUser ? { rights: [...rights] } : {}),
    groupIds: isUser ? [...groupIds] : [],
    externalId,
    customAttributes: { ...customAttributes },
  };
}

/**
 * Patch for the API. API access is changed by a separate operation.
 *
 * @param before attributes of the account as loaded
 */
export function userPatch(before: CustomAttributes, changed: Partial<UserDraft>): UserPatch {
  const { login, name, dealerId, services, rights, groupIds, externalId, customAttributes } = customPatch(
    before,
    changed,
  );
  return {
    ...(externalId === undefined ? {} : { externalId }),
    ...(customAttributes === undefined ? {} : { customAttributes }),
    ...(login === undefined ? {} : { login }),
    ...(name === undefined ? {} : { name }),
    ...(dealerId === undefined ? {} : { dealerId }),
    ...(services === undefined ? {} : { services: [...services] }),
    ...(rights === undefined ? {} : { rights: [...rights] }),
    ...(groupIds === undefined ? {} : { groupIds: [...groupIds] }),
  };
}

/**
 * The services with one granted or revoked. Text commands are a kind of commands: without commands, they are revoked.
 */
export function withService(services: readonly Service[], service: Service, isGranted: boolean): Service[] {
  const granted = new Set(services);
  if (isGranted) {
    granted.add(service);
    if (service === 'command-text') granted.add('commands');
  } else {
    granted.delete(service);
    if (service === 'commands') granted.delete('command-text');
  }
  return SERVICES.filter((one) => granted.has(one));
}

/** Without characters that look alike in print: 0 and O, 1, l and I. */
const SIGNS = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const GROUPS = 4;
const GROUP_SIGNS = 4;

/** Generates a random password that is easy to read out: 16 characters, 93 bits. */
export function suggestedPassword(random: (bytes: Uint8Array<ArrayBuffer>) => void = fillRandom): string {
  const groups: string[] = [];
  while (groups.length < GROUPS) {
    let group = '';
    while (group.length < GROUP_SIGNS) {
      const [byte = 0] = randomByte(random);
      // A byte beyond the last whole multiple would make some characters more frequent.
      if (byte < 256 - (256 % SIGNS.length)) group += SIGNS[byte % SIGNS.length];
    }
    groups.push(group);
  }
  return groups.join('-');
}

function randomByte(random: (bytes: Uint8Array<ArrayBuffer>) => void): Uint8Array {
  const bytes = new Uint8Array(1);
  random(bytes);
  return bytes;
}

function fillRandom(bytes: Uint8Array<ArrayBuffer>): void {
  crypto.getRandomValues(bytes);
}
