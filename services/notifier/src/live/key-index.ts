/** Members under one key; the version grows with each change of the set. */
export interface KeyEntry<M> {
  readonly members: ReadonlySet<M>;
  readonly version: number;
}

/** Index of members by keys. Adding and removing a member costs time proportional to its keys. */
export class KeyIndex<M> {
  readonly #entries = new Map<string, { members: Set<M>; version: number }>();
  readonly #keysOf = new Map<M, readonly string[]>();

  /** Number of indexed members. */
  get size(): number {
    return this.#keysOf.size;
  }

  has(member: M): boolean {
    return this.#keysOf.has(member);
  }

  /** Undefined if no member has the key. */
  entry(key: string): KeyEntry<M> | undefined {
    return this.#entries.get(key);
  }

  /** Indexes a member under these keys only. */
  file(member: M, keys: readonly string[]): void {
    this.remove(member);
    if (keys.length === 0) return;
    this.#keysOf.set(member, keys);
    for (const key of keys) {
      const entry = this.#entries.get(key);
      if (entry === undefined) this.#entries.set(key, { members: new Set([member]), version: 0 });
      else {
        entry.members.add(member);
        entry.version++;
      }
    }
  }

  remove(member: M): void {
    for (const key of this.#keysOf.get(member) ?? []) {
      const entry = this.#entries.get(key);
      if (entry === undefined) continue;
      entry.members.delete(member);
      entry.version++;
      if (entry.members.size === 0) this.#entries.delete(key);
    }
    this.#keysOf.delete(member);
  }
}
