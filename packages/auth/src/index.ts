export type { KnownApiKey, VerifiedApiKey } from './api-key-checks.ts';
export { type Arrival, arrivalOf, arrivalOfUpgrade, cookieSession } from './arrival.ts';
export { clientAddress, countedAs, isTrustedProxy, sourceOf, trustedProxies } from './client-address.ts';
export { KeyRing, type Lifetimes, openKeys, rotateKeys, type SigningKeys } from './keys.ts';
export {
  type OpenIdConfig,
  OpenIdError,
  type OpenIdIdentity,
  OpenIdProvider,
  type OpenIdState,
} from './openid.ts';
export {
  checkPasskeyAnswer,
  checkPasskeyRegistration,
  newChallenge,
  type PasskeyAnswer,
  PasskeyError,
  type PasskeyRegistration,
  type PasskeySite,
  passkeySite,
  userHandleOf,
} from './passkeys.ts';
export * from './session-cookie.ts';
export * from './tokens.ts';
export { isTotpCode, newRecoveryCodes, newTotpSecret, totpCode, totpStep, totpUri } from './totp.ts';
export { type KeyWatch, watchKeys } from './watch-keys.ts';
