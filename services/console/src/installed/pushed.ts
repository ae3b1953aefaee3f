/** Where the browser keeps the account whose push messages it takes. */
export const PUSH_KEY = 'outrider.push';

/** Does the service worker announce notifications, and not the page? */
export function isPushed(): boolean {
  return localStorage.getItem(PUSH_KEY) !== null;
}
