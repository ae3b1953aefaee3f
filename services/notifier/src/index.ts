export * from './live/notifier.ts';
export { webhookBody } from './prepare-delivery.ts';
export { liveConfigOf, notifierVariables } from './settings.ts';
export { type NotificationServiceParts, startNotifications } from './start-notifications.ts';
