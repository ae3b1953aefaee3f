import {
  type Definition,
  type DefinitionKind,
  type Role,
  type User,
  type UserId,
  withoutCredentials,
} from '@outrider/domain';
import type { Kysely, Transaction } from 'kysely';
import { differences, inChunks } from '../store/lists.ts';
import type { AuditRow, Tables } from '../store/schema.ts';
import type { Actor } from './actor.ts';

export const AUDIT_ACTIONS = [
  'created',
  'changed',
  'deleted',
  'blocked',
  'unblocked',
  'moved',
  'suspended',
  'resumed',
  'api-access-granted',
  'api-access-withdrawn',
  'password-changed',
  'password-reset',
  'email-changed',
  'invited',
  'second-factor-enabled',
  'second-factor-removed',
  'passkey-added',
  'passkey-removed',
  'sign-in-linked',
  'sign-in-unlinked',
  'recovery-codes-renewed',
  'recovery-code-used',
  'quotas-changed',
  'login',
  'login-failed',
  'logout',
  'session-ended',
  'token-reused',
  'recalculated',
  'history-imported',
  'history-erased',
  'person-exported',
  'report-requested',
  'erasure-cancelled',
  'erased',
  'tested',
  'replayed',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** Kinds of things that an audited action concerns. */
export type AuditSubjectKind =
  | DefinitionKind
  | 'report-schedule'
  | 'share-link'
  | 'api-key'
  | 'driver-assignment'
  | 'message-channel'
  | 'forwarding-destination'
  | 'video-task'
  | 'command'
  | 'counter-correction'
  | 'custom-counter'
  | 'maintenance-plan'
  | 'service-record';

/** Fields of an audited thing, before or after the action. */
export type AuditedFields = Readonly<Record<string, unknown>>;

/** An audited action, before it has a time and a place in the trail. */
export interface AuditNote {
  action: AuditAction;
  subject: { kind: AuditSubjectKind; id: string | null; name: string };
  /** Fields that changed, with their old values; null or left out where there were none. */
  before?: AuditedFields | null;
  /** Fields that changed, with their new values; null or left out where none are left. */
  after?: AuditedFields | null;
  /** Dealers of the subject, before and after: they may see the entry. */
  dealerIds?: readonly UserId[];
  /** Owners of the subject, where it belongs to an account: see {@link mayKnow}. */
  ownerIds?: readonly UserId[];
}

/** A failed login is recorded as it was typed, which may be anything. */
const MAX_NAME_CHARACTERS = 200;
/** Longer values are not recorded: a geofence may have a hundred thousand corners. */
const MAX_VALUE_CHARACTERS = 8192;

/**
 * Audit note of a change.
 *
 * @param dealerIds dealers that it concerns, besides those that the definitions name
 */
export function noteOfChange(
  before: Definition | null,
  after: Definition | null,
  dealerIds: readonly UserId[] = [],
): AuditNote {
  const subject = after ?? before;
  if (!subject) throw new Error('a change is of something');
  const changed = before && after ? differences<Definition>(before, after) : (after ?? before ?? {});
  const names = Object.keys(changed).filter((name) => !['kind', 'id', 'version'].includes(name));
  return {
    action: actionOf(before, after),
    subject: { kind: subject.kind, id: subject.id, name: subject.kind === 'user' ? subject.login : subject.name },
    before: before && pick(before, names),
    after: after && pick(after, names),
    dealerIds: [...dealerIds, ...[before, after].flatMap((definition) => (definition ? dealersOf(definition) : []))],
    ownerIds: 'ownerId' in subject ? [subject.ownerId] : [],
  };
}

function actionOf(before: Definition | null, after: Definition | null): AuditAction {
  if (before === null) return 'created';
  if (after === null) return 'deleted';
  if (before.kind === 'user' && after.kind === 'user') {
    if (before.blocked !== after.blocked) return after.blocked ? 'blocked' : 'unblocked';
    if (before.apiAccess !== after.apiAccess) return after.apiAccess ? 'api-access-granted' : 'api-access-withdrawn';
  }
  if (before.kind === 'vehicle' && after.kind === 'vehicle' && before.suspension !== after.suspension) {
    if (before.suspension === null) return 'suspended';
    if (after.suspension === null) return 'resumed';
  }
  return 'changed';
}

function pick(definition: Definition, names: readonly string[]): AuditedFields {
  const shown =
    definition.kind === 'video-profile'
      ? { ...definition, address: withoutCredentials(definition.address) }
      : definition;
  return Object.fromEntries(
    names.map((name) => [
      name,
      bounded(name === 'terminalAccess' ? auditedAccess(definition) : shown[name as keyof Definition]),
    ]),
  );
}

/** Without the hashes: the trail may reveal only that there is a secret, and when it changed. */
function auditedAccess(definition: Definition): object | null {
  if (definition.kind !== 'vehicle') return null;
  const { secretHash, registrationHash: _, revision: __, ...access } = definition.terminalAccess;
  return { ...access, hasSecret: secretHash !== null };
}

function bounded(value: unknown): unknown {
  const characters = JSON.stringify(value)?.length ?? 0;
  return characters <= MAX_VALUE_CHARACTERS ? value : { tooLong: true, characters };
}

function dealersOf(definition: Definition): readonly UserId[] {
  if (definition.kind === 'user') return dealersOfUser(definition);
  if ('ownerId' in definition || definition.kind === 'video-profile') return [];
  return definition.dealerId === null ? [] : [definition.dealerId];
}

/** The dealer that an account is, or belongs to. */
export function dealersOfUser({ id, role, dealerId }: Pick<User, 'id' | 'role' | 'dealerId'>): readonly UserId[] {
  if (role === 'dealer') return [id];
  return dealerId === null ? [] : [dealerId];
}

/** Writes notes into the trail, in the transaction of the change. */
export async function insertNotes(
  tx: Transaction<Tables>,
  notes: readonly AuditNote[],
  actor: Actor,
  nowMs: number,
  newId: () => string,
): Promise<void> {
  if (notes.length === 0) return;
  const ofOwner = await dealersOfOwners(tx, notes);
  const entries = notes.map((note) => toRow(note, actor, nowMs, newId()));
  const dealers = notes.flatMap(({ subject, dealerIds = [], ownerIds = [] }, nth) => {
    const ofOwners = ownerIds.flatMap((id) => (ofOwner.get(id) ?? []).filter((dealer) => mayKnow(dealer, id, subject)));
    // The author's dealer is not included: effects on what belongs to others are not the author's to know.
    const concerned = new Set([...dealerIds, ...ofOwners]);
    return [...concerned].map((dealerId) => ({ dealerId, entryId: entries[nth]?.id ?? '' }));
  });
  for (const some of inChunks(entries)) await tx.insertInto('audit').values(some).execute();
  for (const some of inChunks(dealers)) await tx.insertInto('auditDealers').values(some).execute();
}

const PRIVATE_KINDS: ReadonlySet<AuditSubjectKind> = new Set([
  'notification-rule',
  'report-schedule',
  'message-channel',
]);

/** A dealer may know what its accounts own, but not how they are notified, and their report schedules. */
function mayKnow(dealer: UserId, owner: UserId, { kind }: AuditNote['subject']): boolean {
  return !PRIVATE_KINDS.has(kind) || dealer === owner;
}

/** Dealers of owners: from the notes for owners that the transaction changed or deleted, else by a query. */
async function dealersOfOwners(
  tx: Kysely<Tables>,
  notes: readonly AuditNote[],
): Promise<Map<string, readonly UserId[]>> {
  const dealers = new Map<string, readonly UserId[]>();
  for (const { subject, dealerIds = [] } of notes)
    if (subject.kind === 'user' && subject.id !== null) dealers.set(subject.id, dealerIds);
  const unknown = new Set(notes.flatMap((note) => note.ownerIds ?? []).filter((id) => !dealers.has(id)));
  for (const some of inChunks([...unknown])) {
    const rows = await tx.selectFrom('users').select(['id', 'role', 'dealerId']).where('id', 'in', some).execute();
    for (const { id, role, dealerId } of rows)
      dealers.set(id, dealersOfUser({ id: id as UserId, role: role as Role, dealerId: dealerId as UserId | null }));
  }
  return dealers;
}

function toRow(
  { action, subject, before = null, after = null }: AuditNote,
  actor: Actor,
  nowMs: number,
  id: string,
): AuditRow {
  return {
    id,
    atMs: nowMs,
    action,
    userId: actor.user?.id ?? null,
    userLogin: actor.user?.login ?? null,
    userRole: actor.user?.role ?? null,
    userDealerId: actor.user?.dealerId ?? null,
    sessionId: actor.sessionId,
    apiKeyId: actor.apiKeyId ?? null,
    address: actor.address,
    subjectKind: subject.kind,
    subjectId: subject.id,
    subjectName: printable(subject.name),
    before: before && JSON.stringify(before),
    after: after && JSON.stringify(after),
  };
}

/** PostgreSQL rejects NUL. Other control characters do not belong in a trail that people read. */
function printable(text: string): string {
  return text
    .replaceAll(/\p{Cc}/gu, '\u{FFFD}')
    .slice(0, MAX_NAME_CHARACTERS)
    .toWellFormed();
}
