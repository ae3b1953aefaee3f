import type * as Kafka from './kafka/open.ts';
import type * as Redis from './redis/checkpoints.ts';

/*
 * Loads the clients of servers only when one is opened: they take megabytes of each thread, and a fully embedded
 * service never uses them.
 */

export const openKafkaLog: typeof Kafka.openKafkaLog = async (options) =>
  (await import('./kafka/open.ts')).openKafkaLog(options);

export const openKafkaReplicas: typeof Kafka.openKafkaReplicas = async (options, topics) =>
  (await import('./kafka/open.ts')).openKafkaReplicas(options, topics);

export const openRedisCheckpoints: typeof Redis.openRedisCheckpoints = async (options) =>
  (await import('./redis/checkpoints.ts')).openRedisCheckpoints(options);
