import type * as Kafka from './kafka/open.ts';
import type * as Redis from './redis/checkpoints.ts';

/*
 * The clients of servers are loaded when one is opened: they take megabytes of each thread, and where everything is
 * embedded nothing uses them.
 */

export const openKafkaLog: typeof Kafka.openKafkaLog = async (options) =>
  (await import('./kafka/open.ts')).openKafkaLog(options);

export const openKafkaReplicas: typeof Kafka.openKafkaReplicas = async (options, topics) =>
  (await import('./kafka/open.ts')).openKafkaReplicas(options, topics);

export const openRedisCheckpoints: typeof Redis.openRedisCheckpoints = async (options) =>
  (await import('./redis/checkpoints.ts')).openRedisCheckpoints(options);
