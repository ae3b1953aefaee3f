export { type Arrival, arrivalOf } from './arrival.ts';
export { clientAddress, countedAs, isTrustedProxy, sourceOf, trustedProxies } from './client-address.ts';
export { KeyRing, type Lifetimes, openKeys, rotateKeys, type SigningKeys } from './keys.ts';
export * from './session-cookie.ts';
export * from './tokens.ts';
export { type KeyWatch, watchKeys } from './watch-keys.ts';
