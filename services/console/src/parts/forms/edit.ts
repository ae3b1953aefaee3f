import { ApiError, type Tagged } from '@outrider/client';
import { computed, signal } from '@preact/signals';

export interface EditOptions<T extends object> {
  /** What the fields hold at first: of an existing resource, as the API has it. */
  value: T;
  /** Its entity tag; null: it does not exist yet. */
  etag: string | null;
  /** Creates it from all fields when `etag` is null, else changes the fields given, with the tag as `If-Match`. */
  save: (fields: Partial<T>, etag: string | null) => Promise<unknown>;
  /** Reads the latest version. Left out for what only one person can change. */
  read?: () => Promise<Tagged<T>>;
}

/** A field that both have changed, or that differs between the latest version and the draft. */
export interface Conflict<T extends object> {
  name: keyof T & string;
  mine: unknown;
  theirs: unknown;
}

/**
 * A resource while it is edited. It sends only the fields that were changed, keeps what the API said of each, and holds
 * on to the draft when somebody else has changed the resource meanwhile.
 */
export class Edit<T extends object> {
  readonly draft;
  readonly error = signal<unknown>(null);
  readonly isBusy = signal(false);
  /** The latest version, once a save was refused because of it. */
  readonly theirs = signal<Tagged<T> | null>(null);
  /** Fields on the page, by JSON pointer: their errors stand beside them. */
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

  /** The fields that differ from what was read: of a new resource, all. */
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

  /** What the API found wrong with a field. */
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

  /** @returns true once it is saved; otherwise `error` or `theirs` say why not */
  async save(): Promise<boolean> {
    return this.run(async () => {
      await this.#options.save(this.changes.peek(), this.#etag);
      this.#base.value = this.draft.peek();
    });
  }

  /** Runs an action on the resource, such as its deletion, with the same care for errors. */
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

  /** Gives up the draft for the latest version. */
  takeTheirs(): void {
    const { value } = this.theirs;
    if (value === null) return;
    this.#rebase(value);
    this.draft.value = value.body;
  }

  /** Keeps the own changes on top of the latest version: the next save sends them. */
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
  /** Reads it with its tag: at first, and again once somebody else has changed it. */
  read: (ending: { signal?: AbortSignal }) => Promise<Tagged<Entity>>;
  draftOf: (entity: Entity) => T;
  /** @param entity as it was first read */
  save: (fields: Partial<T>, etag: string | null, entity: Entity) => Promise<unknown>;
  /** Ends the first reading. */
  signal?: AbortSignal;
}

/** A resource that is there, to be edited. */
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

/** The headers of a change of this version; of any where the tag is not known. */
export function ifMatch(etag: string | null): { 'If-Match'?: string } {
  return etag === null ? {} : { 'If-Match': etag };
}

function differences<T extends object>(a: T, b: T): Partial<T> {
  const names = Object.keys(a) as (keyof T)[];
  return Object.fromEntries(
    names.filter((name) => JSON.stringify(a[name]) !== JSON.stringify(b[name])).map((name) => [name, a[name]]),
  ) as Partial<T>;
}
