import type { Log, ReaderPlace, Topic } from './log.ts';

/** A store in which a reader saves its offsets together with its results. */
export interface PlaceStore {
  /** The places of a reader by partition. */
  places(reader: string): Promise<ReadonlyMap<number, ReaderPlace>>;
  /** @param offset null: unchanged */
  setPlace(reader: string, partition: number, identity: string, offset: number | null): Promise<void>;
}

/**
 * Resumes a reader whose offsets are in a store, and saves the log's identity in the store.
 *
 * @returns where the reader resumes
 */
export async function resumeFromStore<T>(
  log: Pick<Log, 'resume'>,
  topic: Topic<T>,
  partition: number,
  reader: string,
  store: PlaceStore,
): Promise<number> {
  const saved = (await store.places(reader)).get(partition) ?? null;
  const { offset, identity, discontinuity } = await log.resume(topic, partition, reader, saved);
  if (saved?.identity !== identity || discontinuity !== null)
    await store.setPlace(reader, partition, identity, discontinuity === null ? null : offset);
  return offset;
}
