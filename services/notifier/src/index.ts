export * from './live/notifier.ts';
export { webhookBody } from './prepare-delivery.ts';
