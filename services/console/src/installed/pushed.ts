/** Storage key for the account whose push messages this browser receives. */
export const PUSH_KEY = 'outrider.push';

/** Whether the service worker, not the page, announces notifications. */
export function isPushed(): boolean {
  return localStorage.getItem(PUSH_KEY) !== null;
}
