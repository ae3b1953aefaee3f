export { ApiError, type CallOptions, Client, type ClientOptions, ConnectionError, type Tagged } from './client.ts';
export { LiveConnection, type LiveOptions, type LiveStatus, reconnectDelayMs } from './live.ts';
export {
  BINARY_PROTOCOL,
  BinaryReader,
  type LivePlace,
  type LiveRecord,
  type LiveRecords,
  type LiveVehicleState,
} from './live-binary.ts';
export type { DefinitionChange, LiveMessage, LiveState, LiveSubscription } from './live-messages.ts';
export type * from './schema.ts';
