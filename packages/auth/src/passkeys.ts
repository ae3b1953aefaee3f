import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';

/** The site to which passkeys are bound: a browser never offers those of one site to another. */
export interface PasskeySite {
  /** Domain that passkeys belong to (RP ID). */
  rpId: string;
  /** Origin of the pages that request passkeys. */
  origin: string;
}

/** A new passkey in the browsers' format (`PublicKeyCredential.toJSON()`, without unchecked fields). */
export interface PasskeyRegistration {
  id: string;
  rawId: string;
  type: 'public-key';
  response: { clientDataJSON: string; attestationObject: string };
}

/** A response signed by a passkey, in the browsers' format. */
export interface PasskeyAnswer {
  id: string;
  rawId: string;
  type: 'public-key';
  response: {
    clientDataJSON: string;
    authenticatorData: string;
    signature: string;
    userHandle?: string | null | undefined;
  };
}

/** The data from a browser or a device is invalid. */
export class PasskeyError extends Error {
  override name = 'PasskeyError';
}

const CHALLENGE_BYTES = 32;

/**
 * The passkey site of an origin. Browsers support passkeys only with TLS, except on this machine, and not for IP
 * addresses.
 *
 * @param origin such as `https://fleet.example.com`
 */
export function passkeySite(origin: string | null): PasskeySite | null {
  if (origin === null || !URL.canParse(origin)) return null;
  const { protocol, hostname, origin: plain } = new URL(origin);
  if (isIP(hostname) !== 0 || hostname.startsWith('[')) return null;
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost');
  return protocol === 'https:' || isLocal ? { rpId: hostname, origin: plain } : null;
}

/** A challenge for a passkey to sign: 256 random bits, base64url. */
export function newChallenge(): string {
  return randomBytes(CHALLENGE_BYTES).toString('base64url');
}

/** Identifier of an account on devices: the bytes of its id, base64url. It reveals nothing about the user. */
export function userHandleOf(userId: string): string {
  return Buffer.from(userId.replaceAll('-', ''), 'hex').toString('base64url');
}

/**
 * Checks a browser's registration of a new passkey. Attestation is not requested. A device certificate is refused,
 * because checking it would fetch the URLs that it names.
 *
 * @throws {PasskeyError}
 */
export async function checkPasskeyRegistration(
  { rpId, origin }: PasskeySite,
  challenge: string,
  registration: PasskeyRegistration,
): Promise<{ credentialId: string; publicKey: string; counter: number }> {
  const { verifyRegistrationResponse, decodeAttestationObject } = await library();
  return refusing(async () => {
    const statement = decodeAttestationObject(Buffer.from(registration.response.attestationObject, 'base64url'));
    const format = statement.get('fmt');
    if (format !== 'none' && (format !== 'packed' || statement.get('attStmt').get('x5c') !== undefined))
      throw new PasskeyError('the device sent a certificate, which was not asked for');
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: { ...registration, clientExtensionResults: {} },
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: true,
    });
    if (!verified) throw new PasskeyError('the signature is wrong');
    const { id, publicKey, counter } = registrationInfo.credential;
    return { credentialId: id, publicKey: Buffer.from(publicKey).toString('base64url'), counter };
  });
}

/**
 * Checks a signature of a passkey whose device verified its user by PIN, fingerprint or face.
 *
 * @param publicKey as {@link checkPasskeyRegistration} returned it
 * @returns the device's counter; the caller must check that it grew
 * @throws {PasskeyError}
 */
export async function checkPasskeyAnswer(
  { rpId, origin }: PasskeySite,
  challenge: string,
  answer: PasskeyAnswer,
  { publicKey, userId }: { publicKey: string; userId: string },
): Promise<number> {
  const { verifyAuthenticationResponse } = await library();
  return refusing(async () => {
    const { userHandle, ...response } = answer.response;
    // WebAuthn, 7.2, step 6: the response must name the passkey's account.
    if (userHandle !== userHandleOf(userId)) throw new PasskeyError('it is a passkey of another account');
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: { ...answer, response, clientExtensionResults: {} },
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: true,
      credential: { id: answer.id, publicKey: Buffer.from(publicKey, 'base64url'), counter: 0 },
    });
    if (!verified) throw new PasskeyError('the signature is wrong');
    return authenticationInfo.newCounter;
  });
}

/** Loaded with the first passkey, because it takes 29 MB. */
async function library() {
  const [server, helpers] = await Promise.all([
    import('@simplewebauthn/server'),
    import('@simplewebauthn/server/helpers'),
  ]);
  return { ...server, decodeAttestationObject: helpers.decodeAttestationObject };
}

/** Converts errors to `PasskeyError`: the library throws plain errors for invalid data of a client. */
async function refusing<T>(check: () => Promise<T>): Promise<T> {
  try {
    return await check();
  } catch (error) {
    if (error instanceof PasskeyError) throw error;
    throw new PasskeyError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
