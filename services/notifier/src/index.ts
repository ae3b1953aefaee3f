export * from './live/notifier.ts';
export { refuseUpgrade } from './live/refuse-upgrade.ts';
export { liveConfigOf, notifierVariables } from './settings.ts';
export { type NotificationServiceParts, startNotifications } from './start-notifications.ts';
