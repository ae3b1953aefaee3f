import { ApiError, type Tagged } from '@outrider/client';
import { computed, signal } from '@preact/signals';

export interface EditOptions<T extends object> {
  /** Initial values of the fields. For an existing resource, the values from the API. */
  value: T;
  /** Entity tag of the resource; null: it does not exist yet. */
  etag: string | null;
  /**
   * Creates the resource from all fields if `etag` is null. Otherwise changes the given fields, with the tag as
   * `If-Match`.
   */
  save: (fields: Partial<T>, etag: string | null) => Promise<unknown>;
  /** Reads the latest version. Left out for what only one person can change. */
  read?: () => Promise<Tagged<T>>;
}

/** A field that both users have changed, or that differs between the latest version and the draft. */
export interface Conflict<T extends object> {
  name: keyof T & string;
  mine: unknown;
  theirs: unknown;
}

/**
 * A resource that is being edited. Only changed fields are sent, and the API's errors are kept by field. The draft is
 * kept if another user has changed the resource meanwhile.
 */
export class Edit<T extends object> {
  readonly draft;
  readonly error = signal<unknown>(null);
  readonly isBusy = signal(false);
  /** The latest version, after it caused a save to be refused. */
  readonly theirs = signal<Tagged<T> | null>(null);
  /** JSON pointers of the fields on the page, which show their own errors. */
  readonly shown = new Set<string>();
  readonly #base;
  readonly #options: EditOptions<T>;
  #etag: string | null;

  constructor(options: EditOptions<T>) {
    this.#options = options;
    this.#etag = options.etag;
    this.#base = signal(options.value);
    this.draft = signal(options.value);
  }

  get isNew(): boolean {
    return this.#options.etag === null;
  }

  /** The fields that differ from the loaded version; for a new resource, all fields. */
  readonly changes = computed<Partial<T>>(() => {
    if (this.isNew) return this.draft.value;
    return differences(this.draft.value, this.#base.value);
  });

  readonly isChanged = computed(() => Object.keys(differences(this.draft.value, this.#base.value)).length > 0);

  readonly conflicts = computed<Conflict<T>[]>(() => {
    const theirs = this.theirs.value?.body;
    if (theirs === undefined) return [];
    return (Object.keys(differences(this.draft.value, theirs)) as (keyof T & string)[]).map((name) => ({
      name,
      mine: this.draft.value[name],
      theirs: theirs[name],
    }));
  });

  set(fields: Partial<T>): void {
    this.draft.value = { ...this.draft.peek(), ...fields };
  }

  /** Errors of the API for a field. */
  at(pointer: string): string[] {
    this.shown.add(pointer);
    const { value } = this.error;
    return value instanceof ApiError ? value.at(pointer) : [];
  }

  /** Errors of fields that the page does not show, with their place. */
  get otherErrors(): string[] {
    const { value } = this.error;
    if (!(value instanceof ApiError)) return [];
    return (value.problem.errors ?? [])
      .filter(({ pointer }) => pointer === undefined || !this.shown.has(pointer))
      .map(({ pointer, detail }) => (pointer ? `${pointer.slice(1).replaceAll('/', '.')}: ${detail}` : detail));
  }

  /** @returns true once saved; otherwise `error` or `theirs` has the reason */
  async save(): Promise<boolean> {
    return this.run(async () => {
      await this.#options.save(this.changes.peek(), this.#etag);
      this.#base.value = this.draft.peek();
    });
  }

  /** Runs an action on the resource, such as its deletion, with the same error handling. */
  async run(action: (etag: string | null) => Promise<unknown>): Promise<boolean> {
    if (this.isBusy.peek()) return false;
    this.isBusy.value = true;
    try {
      await action(this.#etag);
      this.error.value = null;
      this.theirs.value = null;
      return true;
    } catch (error) {
      this.error.value = error;
      if (error instanceof ApiError && error.status === 412) await this.#readTheirs();
      return false;
    } finally {
      this.isBusy.value = false;
    }
  }

  /** Discards the draft in favour of the latest version. */
  takeTheirs(): void {
    const { value } = this.theirs;
    if (value === null) return;
    this.#rebase(value);
    this.draft.value = value.body;
  }

  /** Keeps the user's changes on top of the latest version: the next save sends them. */
  keepMine(): void {
    const { value } = this.theirs;
    if (value === null) return;
    const mine = this.changes.peek();
    this.#rebase(value);
    this.draft.value = { ...value.body, ...mine };
  }

  #rebase(latest: Tagged<T>): void {
    this.#base.value = latest.body;
    this.#etag = latest.etag;
    this.theirs.value = null;
    this.error.value = null;
  }

  async #readTheirs(): Promise<void> {
    try {
      this.theirs.value = (await this.#options.read?.()) ?? null;
    } catch (error) {
      this.error.value = error;
    }
  }
}

interface StoredOptions<Entity, T extends object> {
  /** Reads the resource with its tag: initially, and again after another user has changed it. */
  read: (ending: { signal?: AbortSignal }) => Promise<Tagged<Entity>>;
  draftOf: (entity: Entity) => T;
  /** @param entity the resource as first read */
  save: (fields: Partial<T>, etag: string | null, entity: Entity) => Promise<unknown>;
  /** Aborts the first read. */
  signal?: AbortSignal;
}

/** Loads an existing resource for editing. */
export async function editStored<Entity, T extends object>(
  options: StoredOptions<Entity, T>,
): Promise<{ edit: Edit<T>; entity: Entity }> {
  const { draftOf, signal: ending } = options;
  const { body: entity, etag } = await options.read(ending ? { signal: ending } : {});
  const edit = new Edit<T>({
    value: draftOf(entity),
    etag,
    async read() {
      const latest = await options.read({});
      return { body: draftOf(latest.body), etag: latest.etag };
    },
    save: (fields, tag) => options.save(fields, tag, entity),
  });
  return { edit, entity };
}

/** Headers of a change to this version; without a known tag, to any version. */
export function ifMatch(etag: string | null): { 'If-Match'?: string } {
  return etag === null ? {} : { 'If-Match': etag };
}

function differences<T extends object>(a: T, b: T): Partial<T> {
  const names = Object.keys(a) as (keyof T)[];
  return Object.fromEntries(
    names.filter((name) => JSON.stringify(a[name]) !== JSON.stringify(b[name])).map((name) => [name, a[name]]),
  ) as Partial<T>;
}
