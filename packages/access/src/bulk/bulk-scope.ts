import type { Driver, GroupId, User, UserId, Vehicle } from '@outrider/domain';
import {
  BulkError,
  type BulkOutcome,
  ConflictError,
  NotFoundError,
  OperatorOnlyError,
  StaleError,
  UnknownReferenceError,
} from '@outrider/registry';
import type { Access, Sources } from '../access.ts';
import type { Faults } from '../faults.ts';
import { GroupNames } from '../fleet/group-names.ts';
import { type InputError, operatorOnly, Problem } from '../problem.ts';
import { dealerOf, isOperator, mayManage, rightToGroup } from '../rights.ts';

/** Fields common to the rows of all imported CSVs. A field without a column is undefined. */
export interface ImportedLine {
  /** Row number as in a spreadsheet: 1 is the header. */
  row: number;
  /** Names or ids of groups, as written in the file. */
  groups: string | undefined;
  /** Null: the row names no dealer. */
  dealerId: UserId | null | undefined;
  /** Whether the row has a fault that is already reported. A missing value may then be part of the same fault. */
  isWrong: boolean;
  fields: { externalId?: string | null };
}

/** An imported item with its outcome. */
export interface Imported<From, T> {
  from: From;
  became: BulkOutcome<T>;
}

/** Objects that one caller may change in bulk, with the same rights as for single changes. */
export class BulkScope {
  readonly access: Access;
  readonly caller: User;
  readonly sources: Pick<Sources, 'registry' | 'directory'>;

  constructor(access: Access, caller: User, sources: Pick<Sources, 'registry' | 'directory'>) {
    this.access = access;
    this.caller = caller;
    this.sources = sources;
  }

  /** The groups that the caller may see, by name. */
  groupNames(): GroupNames {
    return new GroupNames([...this.sources.directory.groups.values()].filter(({ id }) => this.seesGroup(id)));
  }

  requireManager(): void {
    if (!mayManage(this.caller)) throw new Problem('forbidden', 'Only operators and dealers may do that.');
  }

  seesGroup(id: GroupId): boolean {
    return rightToGroup(this.caller, this.sources.directory.groups.get(id)) !== 'none';
  }

  dealerOf(
    { row, dealerId }: Pick<ImportedLine, 'row' | 'dealerId'>,
    current: Pick<Vehicle, 'dealerId'> | undefined,
    faults: Faults,
  ): UserId | null {
    const own = current ? current.dealerId : dealerOf(this.caller);
    if (isOperator(this.caller)) return dealerId === undefined ? own : dealerId;
    if (dealerId && dealerId !== own)
      faults.add({ row, column: 'dealerId', detail: 'Only operators may set the dealer to whom something belongs.' });
    return own;
  }

  /** Objects by {@link externalKey}; empty if no row has an external id. */
  byExternalId<T extends Vehicle | Driver>(lines: readonly ImportedLine[], things: Iterable<T>): Map<string | null, T> {
    if (lines.every(({ fields }) => !fields.externalId)) return new Map();
    const found = new Map<string | null, T>();
    for (const thing of things)
      if (thing.externalId !== null) found.set(`${thing.dealerId} ${thing.externalId}`, thing);
    return found;
  }

  externalKey({ dealerId, fields: { externalId } }: ImportedLine): string | null {
    const dealer = isOperator(this.caller) ? (dealerId ?? null) : dealerOf(this.caller);
    return externalId ? `${dealer} ${externalId}` : null;
  }
}

export function groupsOf(
  { row, groups }: Pick<ImportedLine, 'row' | 'groups'>,
  names: GroupNames,
  faults: Faults,
): GroupId[] | undefined {
  if (groups === undefined) return undefined;
  const { groupIds, wrong } = names.read(groups);
  for (const detail of wrong) faults.add({ row, column: 'groups', detail });
  return groupIds;
}

export function paired<From, T>(from: readonly From[], outcomes: readonly BulkOutcome<T>[]): Imported<From, T>[] {
  return outcomes.flatMap((became, nth) => {
    const one = from[nth];
    return one === undefined ? [] : [{ from: one, became }];
  });
}

/** Turns the registry's refusals of a bulk write into faults that name rows and fields of the request. */
export async function collectingFaults<T>(
  writing: Promise<T>,
  faults: Faults,
  place: (index: number, field: string | null) => Omit<InputError, 'detail'>,
): Promise<T> {
  try {
    return await writing;
  } catch (error) {
    if (!(error instanceof BulkError)) throw error;
    for (const { index, error: why } of error.failures) {
      if (why instanceof ConflictError)
        faults.add({ ...place(index, why.field), detail: 'Another object has this value.' }, 'conflict');
      else if (why instanceof OperatorOnlyError)
        faults.add({ ...place(index, why.field), detail: operatorOnly(why.field) });
      else if (why instanceof UnknownReferenceError)
        faults.add({ ...place(index, why.field), detail: `${why.id} does not exist.` });
      else if (why instanceof StaleError || why instanceof NotFoundError)
        faults.add({ ...place(index, null), detail: 'It was changed or deleted meanwhile. Try again.' }, 'conflict');
    }
    faults.throwIfAny();
    throw error;
  }
}
