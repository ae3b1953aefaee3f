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

/** What something can be done to. */
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

/** Fields of something, as they were or as they became. */
export type AuditedFields = Readonly<Record<string, unknown>>;

/** Something that was done, before it has a time and a place in the trail. */
export interface AuditNote {
  action: AuditAction;
  subject: { kind: AuditSubjectKind; id: string | null; name: string };
  /** What of it changed, as it was; null or left out where there was nothing. */
  before?: AuditedFields | null;
  /** What of it changed, as it became; null or left out where nothing is left. */
  after?: AuditedFields | null;
  /** Dealers of the subject, before and after: it is theirs to know. */
  dealerIds?: readonly UserId[];
  /** Whose it is, where it belongs to an account: see {@link mayKnow}. */
  ownerIds?: readonly UserId[];
}

/** A login as somebody typed it may be anything. */
const MAX_NAME_CHARACTERS = 200;
/** A geofence may have a hundred thousand corners. */
const MAX_VALUE_CHARACTERS = 8192;

/**
 * What the trail says of a change.
 *
 * @param dealerIds dealers that it concerns, besides those that it names itself
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

/** Without the hashes: that there is a secret, and when it changed, is all that is to be known. */
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

/** Writes notes into the trail, in the transaction of what they are about. */
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
    // Not by who did it: what a change does elsewhere, to what is another's, is not its author's to know.
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

/** Owners that the same transaction changed or deleted are known from its notes; the others are looked up. */
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

/** PostgreSQL takes no NUL, and a trail that people read no other control character. */
function printable(text: string): string {
  return text
    .replaceAll(/\p{Cc}/gu, '\u{FFFD}')
    .slice(0, MAX_NAME_CHARACTERS)
    .toWellFormed();
}
