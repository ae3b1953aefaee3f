export { MAX_AUTHORITIES_CHARACTERS } from './authorities.ts';
export {
  type DestinationKind,
  type ForwardedBatch,
  type ForwardedItem,
  ForwardingError,
  type Refusals,
  SEND_TIMEOUT_MS,
  type Target,
  type TargetContext,
} from './destination-kind.ts';
export type { EgtsDestination } from './kinds/egts.ts';
export { type HttpDestination, MAX_HEADERS } from './kinds/http.ts';
export { type KafkaDestination, SASL_MECHANISMS } from './kinds/kafka.ts';
export type { MqttDestination } from './kinds/mqtt.ts';
export type { WialonIpsDestination } from './kinds/wialon-ips.ts';
export * from './kinds.ts';
