import { ApiError, type PasskeyOptions, type SignedPasskey } from '@outrider/client';
import { describeError } from '../errors.ts';
import { api } from '../session.ts';
import { signInWords } from './words.ts';

/** Whether passkeys can be used in this browser, at this host. They do not work with an IP address. */
export function supportsPasskeys(): boolean {
  if (/^[\d.]+$|^\[/.test(location.hostname)) return false;
  return typeof PublicKeyCredential !== 'undefined' && 'parseRequestOptionsFromJSON' in PublicKeyCredential;
}

/** Whether the login field can offer passkeys. */
export async function canOfferPasskeys(): Promise<boolean> {
  return supportsPasskeys() && (await PublicKeyCredential.isConditionalMediationAvailable?.()) === true;
}

/** Lets a device create a passkey. @throws {DOMException} if the person or the device refuses */
export async function makePasskey({ publicKey }: PasskeyOptions) {
  const options = PublicKeyCredential.parseCreationOptionsFromJSON(publicKey);
  const made = (await navigator.credentials.create({ publicKey: options })) as PublicKeyCredential;
  return made.toJSON() as RegistrationResponseJSON & { type: 'public-key' };
}

/**
 * Lets a passkey sign a challenge of the service.
 *
 * @param signal cancels the request
 * @param mediation `conditional`: the login field offers passkeys, and the person may never choose one
 * @throws {DOMException} if the person or the device refuses, or the request was cancelled
 */
export async function askPasskey(
  signal?: AbortSignal,
  mediation: CredentialMediationRequirement = 'optional',
): Promise<SignedPasskey> {
  const { state, publicKey } = await api.post('/auth/passkey/options');
  const options = { publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(publicKey), mediation };
  const signed = (await navigator.credentials.get({ ...options, ...(signal && { signal }) })) as PublicKeyCredential;
  return { state, credential: signed.toJSON() as SignedPasskey['credential'] };
}

/** Whether the service refused a passkey's signature. */
export function isWrongPasskey(error: unknown): boolean {
  return error instanceof ApiError && error.problem.type === 'urn:outrider:problem:wrong-passkey';
}

/** Describes an error with a passkey. */
export function describePasskeyError(error: unknown): string {
  const words = signInWords().passkeys;
  if (error instanceof DOMException) return error.name === 'InvalidStateError' ? words.known : words.cancelled;
  return isWrongPasskey(error) ? words.wrong : describeError(error);
}
