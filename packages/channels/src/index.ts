export * from './address-list.ts';
export * from './backoff.ts';
export * from './channel-kind.ts';
export * from './email.ts';
export * from './guarded-http.ts';
export { type ConnectGuarded, type GuardedSocketOptions, guardedSockets, hostFault } from './guarded-socket.ts';
export { headerFault } from './header-fault.ts';
export { HTTP_PLACEHOLDERS } from './kinds/http.ts';
export {
  createVapidKeys,
  fingerprintOf,
  type PushSubscription,
  subscriptionFault,
  type VapidKeys,
  type WebPushContext,
} from './kinds/web-push.ts';
export * from './mail-links.ts';
export * from './message-channel.ts';
export * from './message-html.ts';
export * from './message-reader.ts';
export * from './message-template.ts';
export * from './network-address.ts';
export * from './notification-text.ts';
export * from './plain-name.ts';
export * from './send-result.ts';
export * from './signature.ts';
export * from './webhook.ts';
export * from './webhook-url.ts';
