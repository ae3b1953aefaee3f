import { randomUUID } from 'node:crypto';
import type { DefinitionChange } from '@outrider/domain';
import type { Log, Subscription } from './log.ts';
import { definitionsTopic } from './topics.ts';

/**
 * Reads all definitions, then follows their changes. Every reader reads all partitions: definitions are not divided
 * among the members of a group.
 *
 * @param reader whose view it is, for the group's name
 * @param take called for each change, the oldest first
 * @returns once all records that the topic held at the time of the call were processed
 */
export async function followDefinitions(
  log: Log,
  reader: string,
  take: (change: DefinitionChange) => void,
): Promise<Subscription> {
  const ends = await log.endOffsets(definitionsTopic);
  const behind = new Set([...ends].filter(([, end]) => end > 0).map(([partition]) => partition));
  let caughtUp: () => void = () => {};
  const current = new Promise<void>((resolve) => {
    caughtUp = resolve;
  });
  if (behind.size === 0) caughtUp();

  const subscription = await log.consume(definitionsTopic, {
    group: `${reader}-${randomUUID()}`,
    startAt: () => 'earliest',
    async onBatch({ records }) {
      for (const { value } of records) take(value);
    },
    // Decided by offset: this version may be unable to decode the last record.
    onProgress(partition, nextOffset) {
      if (nextOffset >= (ends.get(partition) ?? 0) && behind.delete(partition) && behind.size === 0) caughtUp();
    },
  });
  await Promise.race([current, subscription.failed]);
  return subscription;
}
