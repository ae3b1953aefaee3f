export * from './checkpoints.ts';
export * from './dead-letters.ts';
export * from './follow-definitions.ts';
export { type KafkaLogOptions, openKafkaLog } from './kafka/open.ts';
export * from './log.ts';
export { openRedisCheckpoints, type RedisCheckpointsOptions } from './redis/checkpoints.ts';
export { openSqliteCheckpoints } from './sqlite/checkpoints.ts';
export { COMMIT_GAP_MS, openSqliteLog, type SqliteLogOptions } from './sqlite/open.ts';
export * from './topics.ts';
