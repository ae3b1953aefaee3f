export * from './address-list.ts';
export * from './email.ts';
export * from './network-address.ts';
export * from './notification-text.ts';
export * from './send-result.ts';
export * from './signature.ts';
export * from './webhook.ts';
export * from './webhook-url.ts';
