import type { Definition, DefinitionKind } from '@outrider/domain';
import type { Kysely } from 'kysely';
import { NotFoundError, StaleError } from './errors.ts';
import { CHUNK, differences, inChunks } from './lists.ts';
import type { Tables } from './schema.ts';
import type { Reader, Writer } from './store.ts';

/** How definitions of a kind are read: from rows of one table, with details from other tables. */
export interface ResourceSource<T extends Definition, Row extends { id: string }> {
  kind: T['kind'];
  table: DefinitionTable;
  read(db: Reader, rows: readonly Row[]): T[] | Promise<T[]>;
  /** Rows in memory at a time when all are read. */
  rowsAtOnce?: number;
}

/** How definitions of a kind are read and written. */
export interface ResourceOptions<T extends Definition, Row extends { id: string }> extends ResourceSource<T, Row> {
  /** Leaves out columns that are written elsewhere. */
  toRow(definition: T): Partial<Row> & { id: string };
  /**
   * Refuses invalid definitions, before anything of them is written.
   *
   * @param before null: it is new
   */
  check(writer: Writer, next: T, before: T | null): Promise<void>;
  /** Writes the details in other tables, right after the row. */
  writeDetails?(writer: Writer, next: T, before: T | null): Promise<void>;
}

/** Tables of definitions by kind; groups and users come before definitions that refer to them. */
export const DEFINITION_TABLES = {
  group: 'vehicleGroups',
  user: 'users',
  vehicle: 'vehicles',
  geofence: 'geofences',
  'notification-rule': 'notificationRules',
  'video-profile': 'videoProfiles',
  driver: 'drivers',
} as const satisfies Record<DefinitionKind, keyof Tables>;
export type DefinitionTable = (typeof DEFINITION_TABLES)[DefinitionKind];

/** Reads definitions of one kind from the database. */
export class StoredDefinitions<T extends Definition, Row extends { id: string }> {
  readonly #source: ResourceSource<T, Row>;

  constructor(source: ResourceSource<T, Row>) {
    this.#source = source;
  }

  /** Those among `ids` that exist, in the order of their ids. */
  async load(db: Reader, ids: readonly string[]): Promise<T[]> {
    const rows: Row[] = [];
    for (const some of inChunks(ids)) {
      const query = this.database(db).selectFrom(this.#source.table).selectAll().where('id', 'in', some);
      rows.push(...((await query.orderBy('id').execute()) as unknown as Row[]));
    }
    return this.#source.read(db, rows);
  }

  /** All definitions, in the order of their ids. */
  async all(db: Reader): Promise<T[]> {
    const { table, rowsAtOnce = CHUNK } = this.#source;
    const definitions: T[] = [];
    for (let after = ''; ; ) {
      const query = this.database(db).selectFrom(table).selectAll().where('id', '>', after);
      const rows = (await query.orderBy('id').limit(rowsAtOnce).execute()) as unknown as Row[];
      definitions.push(...(await this.#source.read(db, rows)));
      if (rows.length < rowsAtOnce) return definitions;
      after = rows.at(-1)?.id ?? '';
    }
  }

  async get(db: Reader, id: string): Promise<T | null> {
    const [definition] = await this.load(db, [id]);
    return definition ?? null;
  }

  /**
   * The definition to change, after checking that it exists and that the caller saw its current version.
   *
   * @param expectedVersion version that the caller last saw; null: any
   * @throws {NotFoundError} {StaleError}
   */
  async expected({ tx }: Writer, id: string, expectedVersion: number | null): Promise<T> {
    return asExpected(await this.get(tx, id), this.#source.kind, id, expectedVersion);
  }

  /**
   * Gives each definition a new version and notes it, after its tables were changed elsewhere.
   *
   * @param before the definitions before the change
   */
  async touch(writer: Writer, before: readonly T[]): Promise<void> {
    const was = new Map<string, T>(before.map((definition) => [definition.id, definition]));
    for (const some of inChunks([...was.keys()]))
      await this.database(writer.tx)
        .updateTable(this.#source.table)
        .set((e) => ({ version: e('version', '+', 1) }))
        .where('id', 'in', some)
        .execute();
    for (const definition of await this.load(writer.tx, [...was.keys()]))
      writer.changed(definition, was.get(definition.id) ?? null);
  }

  async deleteRow({ tx }: Writer, id: string): Promise<void> {
    await this.database(tx).deleteFrom(this.#source.table).where('id', '=', id).execute();
  }

  /** Types the database as if all its tables had an id and a version. */
  protected database(db: Reader): Kysely<Record<DefinitionTable, { id: string; version: number }>> {
    return db as never;
  }
}

/** Reads and writes definitions of one kind. */
export class Resource<T extends Definition, Row extends { id: string }> extends StoredDefinitions<T, Row> {
  readonly #options: ResourceOptions<T, Row>;

  constructor(options: ResourceOptions<T, Row>) {
    super(options);
    this.#options = options;
  }

  /** @throws the errors of its check */
  async create(writer: Writer, definition: T): Promise<T> {
    await this.#options.check(writer, definition, null);
    await this.insertRows(writer, [definition]);
    await this.#options.writeDetails?.(writer, definition, null);
    writer.changed(definition, null);
    return definition;
  }

  /**
   * @param expectedVersion version that the caller last saw; null: any
   * @param revise returns its argument where nothing changes: then there is no new version
   * @throws {NotFoundError} {StaleError} and the errors of its check
   */
  async update(writer: Writer, id: string, expectedVersion: number | null, revise: (current: T) => T): Promise<T> {
    const current = await this.expected(writer, id, expectedVersion);
    const next = revise(current);
    if (next === current) return current;
    await this.#options.check(writer, next, current);
    await this.replace(writer, next, current);
    return next;
  }

  /** Writes and notes a change that needs no check. */
  async replace(writer: Writer, next: T, before: T): Promise<void> {
    await this.updateRow(writer, next);
    await this.#options.writeDetails?.(writer, next, before);
    writer.changed(next, before);
  }

  /** Does not write details in other tables. */
  async insertRows({ tx }: Writer, definitions: readonly T[]): Promise<void> {
    const rows = definitions.map((definition) => this.#options.toRow(definition));
    await this.database(tx)
      .insertInto(this.#options.table)
      .values(rows as never[])
      .execute();
  }

  /** Does not write details in other tables. */
  async updateRow({ tx }: Writer, definition: T): Promise<void> {
    const { id, ...columns } = this.#options.toRow(definition);
    await this.database(tx)
      .updateTable(this.#options.table)
      .set(columns as never)
      .where('id', '=', id)
      .execute();
  }
}

/**
 * Applies a patch and raises the version; returns `current` itself where the patch changes nothing. Unchanged fields
 * keep their identity.
 */
export function revised<T extends { version: number }>(current: T, patch: Partial<NoInfer<T>>): T {
  const changed = differences<T>(current, patch);
  return Object.keys(changed).length === 0 ? current : { ...current, ...changed, version: current.version + 1 };
}

/**
 * The definition to change, after checking that it exists and that the caller saw its current version.
 *
 * @param expectedVersion version that the caller last saw; null: any
 * @throws {NotFoundError} {StaleError}
 */
export function asExpected<T extends { kind: string; version: number }>(
  found: T | null | undefined,
  kind: NotFoundError['kind'],
  id: string,
  expectedVersion: number | null,
): T {
  if (!found) throw new NotFoundError(kind, id);
  if (expectedVersion !== null && found.version !== expectedVersion) throw new StaleError(found, expectedVersion);
  return found;
}
