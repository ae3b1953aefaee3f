export { type CallOptions, Client, type ClientOptions, type Tagged } from './client.ts';
export { ApiError, ConnectionError } from './errors.ts';
export type { FeedMessages, FeedOptions } from './feed.ts';
export type { FieldRule } from './field-rule.ts';
export * from './fields.ts';
export { LiveConnection, type LiveOptions, type LiveStatus, reconnectDelayMs } from './live.ts';
export {
  BinaryReader,
  type LivePlace,
  type LiveRecord,
  type LiveRecords,
  type LiveVehicleState,
} from './live-binary.ts';
export type {
  DefinitionChange,
  LiveCounters,
  LiveDriver,
  LiveMessage,
  LiveState,
  LiveSubscription,
  LiveTank,
} from './live-messages.ts';
export { BINARY_PROTOCOL, EVENT_KINDS, NOTIFIED_KINDS } from './live-names.ts';
export type * from './schema.ts';
