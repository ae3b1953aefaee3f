/** Well under the number of parameters that either database takes in a statement. */
export const CHUNK = 500;

/** Splits a list into parts of at most {@link CHUNK}. */
export function* inChunks<T>(list: readonly T[]): Generator<T[]> {
  for (let at = 0; at < list.length; at += CHUNK) yield list.slice(at, at + CHUNK);
}

/** The values of `patch` that differ from those of `current`. Undefined counts as not given. */
export function differences<T extends object>(current: T, patch: Partial<T>): Partial<T> {
  const changed: Partial<T> = {};
  for (const [field, value] of Object.entries(patch) as [keyof T, T[keyof T]][])
    if (value !== undefined && JSON.stringify(value) !== JSON.stringify(current[field])) changed[field] = value;
  return changed;
}
