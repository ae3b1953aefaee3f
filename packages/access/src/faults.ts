import { type InputError, Problem } from './problem.ts';

/** More faults than anyone corrects before trying again. */
const MAX_LISTED = 100;

/** Collects all faults of a bulk request. */
export class Faults {
  readonly #listed: InputError[] = [];
  #count = 0;
  #hasConflictOnly = true;

  /** @param kind `conflict`: valid by itself, but conflicting with existing data or with another item */
  add(error: InputError, kind: 'invalid-request' | 'conflict' = 'invalid-request'): void {
    this.#count += 1;
    if (kind !== 'conflict') this.#hasConflictOnly = false;
    if (this.#listed.length < MAX_LISTED) this.#listed.push(error);
  }

  /** Adds faults found elsewhere: the first of them, and their total number. */
  addAll(errors: readonly InputError[], count: number): void {
    for (const error of errors) this.add(error);
    this.#count += count - errors.length;
  }

  get listed(): readonly InputError[] {
    return this.#listed;
  }

  get count(): number {
    return this.#count;
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  /** @throws {Problem} naming the faults, if there are any */
  throwIfAny(): void {
    if (this.isEmpty) return;
    const count = this.#count === 1 ? '1 error was' : `${this.#count} errors were`;
    const first = this.#count > this.#listed.length ? ` The first ${this.#listed.length} are listed.` : '';
    throw new Problem(
      this.#hasConflictOnly ? 'conflict' : 'invalid-request',
      `${count} found; nothing was changed.${first}`,
      { errors: this.#listed },
    );
  }
}
