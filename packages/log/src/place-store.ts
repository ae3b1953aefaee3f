import type { Log, ReaderPlace, Topic } from './log.ts';

/** A store in which a reader keeps its places with what it made of the records. */
export interface PlaceStore {
  /** The places of a reader by partition. */
  places(reader: string): Promise<ReadonlyMap<number, ReaderPlace>>;
  /** @param offset null: the place stays where it is */
  setPlace(reader: string, partition: number, identity: string, offset: number | null): Promise<void>;
}

/**
 * Resumes a reader whose places are in a store, and notes there which log it reads from now on. Returns where it goes
 * on.
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
