import type { Definition } from '@outrider/domain';
import { NotFoundError, StaleError } from './errors.ts';
import { differences, inChunks } from './lists.ts';
import type { Reader, Writer } from './store.ts';

/**
 * What is about to be changed, once it is sure that it is there and that the caller saw it as it is.
 *
 * @param expectedVersion what the caller last saw; null: whatever it is
 * @throws {NotFoundError} {StaleError}
 */
export function asExpected<T extends Definition>(
  found: T | null | undefined,
  kind: T['kind'],
  id: string,
  expectedVersion: number | null,
): T {
  if (!found) throw new NotFoundError(kind, id);
  if (expectedVersion !== null && found.version !== expectedVersion) throw new StaleError(found, expectedVersion);
  return found;
}

/**
 * The definition with what the patch says, in its next version; `current` itself where the patch changes nothing.
 * Fields that the patch leaves as they are keep their very values.
 */
export function revised<T extends { version: number }>(current: T, patch: Partial<NoInfer<T>>): T {
  const changed = differences<T>(current, patch);
  return Object.keys(changed).length === 0 ? current : { ...current, ...changed, version: current.version + 1 };
}

/**
 * Gives each definition a new version and notes it: for a change that came from elsewhere, already made in the tables.
 *
 * @param before the definitions as they were
 * @param load those with these ids, as they are
 */
export async function touch<T extends Definition>(
  writer: Writer,
  table: 'vehicles' | 'users' | 'geofences' | 'drivers',
  before: readonly T[],
  load: (db: Reader, ids: readonly string[]) => Promise<T[]>,
): Promise<void> {
  const was = new Map<string, T>(before.map((definition) => [definition.id, definition]));
  const ids = [...was.keys()];
  for (const some of inChunks(ids))
    await writer.tx
      .updateTable(table)
      .set((e) => ({ version: e('version', '+', 1) }))
      .where('id', 'in', some)
      .execute();
  for (const definition of await load(writer.tx, ids)) writer.changed(definition, was.get(definition.id) ?? null);
}
