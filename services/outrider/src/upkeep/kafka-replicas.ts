import { backingOf, openLogReplicas } from '@outrider/backing';
import { StartError } from '@outrider/runtime';
import type { Command } from '../command.ts';

/**
 * `outrider kafka-replicas status` and `outrider kafka-replicas raise`.
 *
 * @returns the exit code: 1 if a topic has fewer replicas than wanted afterwards
 * @throws {StartError} when the arguments are invalid, `KAFKA_BROKERS` is not set, or the brokers refuse or are not
 * ready in time
 */
export const runKafkaReplicas: Command = async (words, config, logger, print) => {
  const [what] = words;
  if (words.length !== 1 || (what !== 'status' && what !== 'raise'))
    throw new StartError('it is: kafka-replicas status, or: kafka-replicas raise');
  const replicas = await openLogReplicas(backingOf(config, null), logger);
  try {
    if (what === 'raise') await replicas.raise().catch(explain);
    const topics = await replicas.status();
    print('topic  partitions  replicas  wanted');
    for (const { topic, partitions, replicas, wanted } of topics)
      print(`${topic}  ${partitions}  ${replicas}  ${wanted}`);
    return topics.some(({ replicas, wanted }) => replicas < wanted) ? 1 : 0;
  } finally {
    await replicas.close();
  }
};

/** Explains an error. A refusal of several partitions has one reason for each. */
function explain(error: Error & { errors?: readonly Error[] }): never {
  const reasons = new Set((error.errors ?? [error]).map(({ message }) => message));
  throw new StartError(`replicas could not be raised: ${[...reasons].join(', ')}`, { cause: error });
}
