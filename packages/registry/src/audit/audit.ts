import type { ApiKeyId, Role, SessionId, User, UserId, Vehicle } from '@outrider/domain';
import { type Expression, expressionBuilder, type SqlBool } from 'kysely';
import { type Page, type Paging, pageOf } from '../store/page.ts';
import type { AuditRow, Tables } from '../store/schema.ts';
import { inChunks, type Store } from '../store/store.ts';
import {
  type AuditAction,
  type AuditedFields,
  type AuditNote,
  type AuditSubjectKind,
  dealersOfUser,
} from './audit-notes.ts';

/** A line of the audit trail. */
export interface AuditEntry extends Pick<Required<AuditNote>, 'action' | 'subject' | 'before' | 'after'> {
  id: string;
  atMs: number;
  /** Null: the service itself, or somebody whose login failed. */
  user: { id: UserId; login: string; role: Role; dealerId: UserId | null } | null;
  sessionId: SessionId | null;
  /** The API key that was used; null: none. */
  apiKeyId: ApiKeyId | null;
  address: string | null;
}

/** Matches entries for which every given field holds. */
export interface AuditFilter {
  fromMs?: number;
  /** Exclusive. */
  toMs?: number;
  /** Who did it. */
  userId?: UserId;
  /** What it was done to. */
  subjectId?: string;
  /** What was done. */
  action?: AuditAction;
  /** Kind of what it was done to. */
  subjectKind?: AuditSubjectKind;
  /** Entries that concern a dealer: about things that were the dealer's, or the dealer's users', at that time. */
  ofDealer?: UserId;
}

/** Sorts after every UUID. */
const AFTER_ALL = 'g';

/** The audit trail: who changed what, when, from where. The newest first, for as long as it is kept. */
export class Audit {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async list(filter: AuditFilter, paging: Paging): Promise<Page<AuditEntry>> {
    const { db } = this.#store;
    const e = expressionBuilder<Tables, 'audit'>();
    const conditions: Expression<SqlBool>[] = [];
    if (filter.fromMs !== undefined) conditions.push(e('audit.atMs', '>=', filter.fromMs));
    if (filter.toMs !== undefined) conditions.push(e('audit.atMs', '<', filter.toMs));
    if (filter.userId !== undefined) conditions.push(e('audit.userId', '=', filter.userId));
    if (filter.subjectId !== undefined) conditions.push(e('audit.subjectId', '=', filter.subjectId));
    if (filter.action !== undefined) conditions.push(e('audit.action', '=', filter.action));
    if (filter.subjectKind !== undefined) conditions.push(e('audit.subjectKind', '=', filter.subjectKind));
    if (paging.after !== null) conditions.push(e('audit.id', '<', paging.after));
    const isOf = (dealer: UserId) => e.or([e('audit.userId', '=', dealer), e('audit.userDealerId', '=', dealer)]);
    const limit = paging.limit + 1;
    const query =
      filter.ofDealer === undefined
        ? db.selectFrom('audit').selectAll('audit').where(e.and(conditions)).orderBy('audit.id', 'desc')
        : // By the key of the dealer's entries, which is in the order that is wanted.
          db
            .selectFrom('auditDealers')
            .innerJoin('audit', 'audit.id', 'auditDealers.entryId')
            .selectAll('audit')
            .where('auditDealers.dealerId', '=', filter.ofDealer)
            .where('auditDealers.entryId', '<', paging.after ?? AFTER_ALL)
            // A dealer may filter by its own accounts only: results must not confirm the id of a stranger.
            .where(filter.userId === undefined ? e.and([]) : isOf(filter.ofDealer))
            .where(e.and(conditions))
            .orderBy('auditDealers.entryId', 'desc');
    const page = pageOf(await query.limit(limit).execute(), paging);
    return { ...page, items: page.items.map(fromRow) };
  }

  /**
   * Records a failed login.
   *
   * @param login as it was typed; truncated where it is long
   * @param user the account of that login, if it exists
   */
  noteFailedLogin(login: string, reason: string, user: User | null): Promise<void> {
    return this.#store.write(async (writer) => {
      writer.note({
        action: 'login-failed',
        subject: { kind: 'user', id: user?.id ?? null, name: login },
        after: { reason },
        dealerIds: user ? dealersOfUser(user) : [],
      });
    });
  }

  /** Records that past positions were imported for a vehicle. */
  noteImport({ id, name, dealerId }: Pick<Vehicle, 'id' | 'name' | 'dealerId'>, what: AuditedFields): Promise<void> {
    return this.#store.write(async (writer) => {
      writer.note({
        action: 'history-imported',
        subject: { kind: 'vehicle', id, name },
        after: what,
        dealerIds: dealerId === null ? [] : [dealerId],
      });
    });
  }

  /**
   * Forgets the oldest entries from before a time.
   *
   * @param limit at most this many
   * @returns how many they were
   */
  clean(beforeMs: number, limit: number): Promise<number> {
    return this.#store.write(async ({ tx }) => {
      const rows = await tx
        .selectFrom('audit')
        .select('id')
        .where('atMs', '<', beforeMs)
        .orderBy('atMs')
        .limit(limit)
        .execute();
      for (const some of inChunks(rows.map((row) => row.id))) {
        await tx.deleteFrom('auditDealers').where('entryId', 'in', some).execute();
        await tx.deleteFrom('audit').where('id', 'in', some).execute();
      }
      return rows.length;
    });
  }
}

function fromRow(row: AuditRow): AuditEntry {
  return {
    id: row.id,
    atMs: row.atMs,
    action: row.action as AuditAction,
    user:
      row.userId === null
        ? null
        : {
            id: row.userId as UserId,
            login: row.userLogin ?? '',
            role: row.userRole as Role,
            dealerId: row.userDealerId as UserId | null,
          },
    sessionId: row.sessionId as SessionId | null,
    apiKeyId: row.apiKeyId as ApiKeyId | null,
    address: row.address,
    subject: { kind: row.subjectKind as AuditSubjectKind, id: row.subjectId, name: row.subjectName },
    before: row.before === null ? null : (JSON.parse(row.before) as AuditedFields),
    after: row.after === null ? null : (JSON.parse(row.after) as AuditedFields),
  };
}
