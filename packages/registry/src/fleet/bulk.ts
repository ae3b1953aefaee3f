import { setImmediate } from 'node:timers/promises';
import type { Definition, GroupId, UserId } from '@outrider/domain';
import { requireDealer } from '../accounts/dealers.ts';
import {
  type ConflictError,
  NotFoundError,
  type OperatorOnlyError,
  StaleError,
  UnknownReferenceError,
} from '../store/errors.ts';
import { inChunks } from '../store/lists.ts';
import type { Reader, Store, Writer } from '../store/store.ts';
import type { MembershipTable } from './memberships.ts';

/** One of many writes: a new definition, or a change of the one with this id in this version. */
export type BulkWrite<Id, Fields, Patch = Partial<Fields>> =
  | { id: null; fields: Fields }
  | { id: Id; expectedVersion: number | null; patch: Patch };

/** Outcome of one write of a bulk operation. */
export interface BulkOutcome<T> {
  outcome: 'created' | 'updated' | 'unchanged';
  definition: T;
}

/** Why one write of a bulk operation can't be made. */
export interface BulkFailure {
  /** Position of the write in the list. */
  index: number;
  error: ConflictError | OperatorOnlyError | NotFoundError | StaleError | UnknownReferenceError;
}

/** Some of many writes can't be made, and so none was. */
export class BulkError extends Error {
  override name = 'BulkError';
  readonly failures: readonly BulkFailure[];
  constructor(failures: readonly BulkFailure[]) {
    super(`${failures.length} of the writes cannot be made: ${failures[0]?.error.message ?? 'none is named'}`);
    this.failures = failures;
  }
}

/** Thrown at the end of a dry run, to roll its transaction back. */
class DryRun<T> extends Error {
  readonly result: T;
  constructor(result: T) {
    super('a dry run');
    this.result = result;
  }
}

/** Runs `work` in one transaction. A dry run does all of it, then rolls back. */
export async function writeOrTry<T>(store: Store, dryRun: boolean, work: (writer: Writer) => Promise<T>): Promise<T> {
  try {
    return await store.write(async (writer) => {
      const result = await work(writer);
      if (dryRun) {
        await writer.growth.check(writer);
        throw new DryRun(result);
      }
      return result;
    });
  } catch (error) {
    if (error instanceof DryRun) return error.result;
    throw error;
  }
}

/** Splits a list into parts that fit into one statement. Yields to other work between them. */
export async function* inParts<T>(list: readonly T[]): AsyncGenerator<T[]> {
  let isFirst = true;
  for (const some of inChunks(list)) {
    if (!isFirst) await setImmediate();
    isFirst = false;
    yield some;
  }
}

/** The groups among these that do not exist. */
export async function missingGroups(db: Reader, groupIds: Iterable<GroupId>): Promise<Set<GroupId>> {
  const missing = new Set(groupIds);
  for (const some of inChunks([...missing])) {
    const rows = await db.selectFrom('vehicleGroups').select('id').where('id', 'in', some).execute();
    for (const { id } of rows) missing.delete(id as GroupId);
  }
  return missing;
}

/** Errors for the ids that can't be somebody's dealer, by id. */
export async function notDealers(
  db: Reader,
  dealerIds: Iterable<UserId | null>,
): Promise<Map<UserId | null, UnknownReferenceError>> {
  const wrong = new Map<UserId | null, UnknownReferenceError>();
  for (const id of new Set(dealerIds)) {
    try {
      await requireDealer(db, id);
    } catch (error) {
      if (!(error instanceof UnknownReferenceError)) throw error;
      wrong.set(id, error);
    }
  }
  return wrong;
}

/** Replaces the groups of each member by the given ones, all of which must exist. */
export async function replaceGroups(
  { tx }: Writer,
  table: MembershipTable,
  members: readonly { id: string; groupIds: readonly GroupId[] | null }[],
): Promise<void> {
  for await (const some of inParts(members))
    await tx
      .deleteFrom(table)
      .where(
        'memberId',
        'in',
        some.map(({ id }) => id),
      )
      .execute();
  const pairs = members.flatMap(({ id, groupIds }) => (groupIds ?? []).map((groupId) => ({ groupId, memberId: id })));
  for await (const some of inParts(pairs)) await tx.insertInto(table).values(some).execute();
}

function sharesOf(definition: Definition): readonly GroupId[] {
  return definition.kind === 'geofence' ? definition.sharedGroupIds : [];
}

/** Plan of a bulk operation: the effect of each write on the current definitions, and the writes that fail. */
export class BulkPlan<T extends Definition & { groupIds: readonly GroupId[] | null }> {
  readonly planned: { index: number; current: T | null; next: T }[] = [];
  readonly #failures = new Map<number, BulkFailure>();

  /** Marks a write as failed. Only its first failure is reported. */
  fail(index: number, error: BulkFailure['error']): void {
    if (!this.#failures.has(index)) this.#failures.set(index, { index, error });
  }

  /**
   * Plans each of the writes. Fails those of definitions that are not among `known`, or not in the expected version.
   *
   * @param known definitions that may be changed
   * @param revise returns `current` itself where nothing changes
   */
  take<Fields, Patch = Partial<Fields>>(
    kind: T['kind'],
    writes: readonly BulkWrite<string, Fields, Patch>[],
    known: readonly T[],
    create: (fields: Fields) => T,
    revise: (current: T, patch: Patch) => T,
  ): void {
    const currents = new Map<string, T>(known.map((definition) => [definition.id, definition]));
    for (const [index, write] of writes.entries()) {
      if (write.id === null) {
        this.planned.push({ index, current: null, next: create(write.fields) });
        continue;
      }
      const current = currents.get(write.id);
      if (current === undefined) {
        this.fail(index, new NotFoundError(kind, write.id));
        continue;
      }
      if (write.expectedVersion !== null && current.version !== write.expectedVersion)
        this.fail(index, new StaleError(current, write.expectedVersion));
      this.planned.push({ index, current, next: revise(current, write.patch) });
    }
  }

  /** Fails every write that names a group that does not exist. */
  async checkGroups(db: Reader): Promise<void> {
    const missing = await missingGroups(
      db,
      this.planned.flatMap(({ next }) => [...(next.groupIds ?? []), ...sharesOf(next)]),
    );
    if (missing.size === 0) return;
    for (const { index, next } of this.planned) {
      const id = next.groupIds?.find((group) => missing.has(group));
      if (id !== undefined) this.fail(index, new UnknownReferenceError('groupIds', id));
      const shared = sharesOf(next).find((group) => missing.has(group));
      if (shared !== undefined) this.fail(index, new UnknownReferenceError('sharedGroupIds', shared));
    }
  }

  /**
   * Fails every write whose value another definition would have as well: an earlier write, or an existing definition
   * that is not written.
   *
   * @param uniqueOf value that must be unique; null: none
   * @param holders definitions that have these values now
   */
  async checkUnique(
    uniqueOf: (definition: T) => string | null,
    holders: (values: string[]) => Promise<readonly { id: string; value: string }[]>,
    conflict: (value: string) => ConflictError,
  ): Promise<void> {
    const firstWith = new Map<string, string>();
    const written = new Set<string>(this.planned.map(({ next }) => next.id));
    const wanted = new Map<string, number>();
    for (const { index, current, next } of this.planned) {
      const value = uniqueOf(next);
      if (value === null) continue;
      if (firstWith.has(value)) this.fail(index, conflict(value));
      else firstWith.set(value, next.id);
      if (current === null || uniqueOf(current) !== value) wanted.set(value, index);
    }
    // A holder that is written as well gives its value up, or was found to be a duplicate above.
    for await (const some of inParts([...wanted.keys()]))
      for (const { id, value } of await holders(some))
        if (!written.has(id)) this.fail(wanted.get(value) ?? 0, conflict(value));
  }

  /** @throws {BulkError} when something failed */
  requireAllGood(): void {
    if (this.#failures.size > 0) throw new BulkError([...this.#failures.values()].sort((a, b) => a.index - b.index));
  }

  /**
   * Makes all of the writes, and notes them. The caller has freed unique values that another write takes.
   *
   * @param rows writes the rows, without their groups
   * @returns the outcome of each write, in their order
   */
  async carryOut(
    writer: Writer,
    memberships: MembershipTable,
    rows: {
      insertRows(writer: Writer, created: readonly T[]): Promise<void>;
      updateRow(writer: Writer, next: T): Promise<void>;
    },
  ): Promise<BulkOutcome<T>[]> {
    const { created, updated } = this;
    for await (const some of inParts(updated)) for (const { next } of some) await rows.updateRow(writer, next);
    for await (const some of inParts(created)) await rows.insertRows(writer, some);
    const regrouped = updated.filter(({ current, next }) => current.groupIds !== next.groupIds);
    await replaceGroups(writer, memberships, [...created, ...regrouped.map(({ next }) => next)]);
    for (const { current, next } of this.planned) if (next !== current) writer.changed(next, current);
    return this.planned.map(({ current, next }) => ({
      outcome: current === null ? 'created' : next === current ? 'unchanged' : 'updated',
      definition: next,
    }));
  }

  get created(): T[] {
    return this.planned.filter(({ current }) => current === null).map(({ next }) => next);
  }

  get updated(): { current: T; next: T }[] {
    return this.planned.flatMap(({ current, next }) => (current && next !== current ? [{ current, next }] : []));
  }
}
