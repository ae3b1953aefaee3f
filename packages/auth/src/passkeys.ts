import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';

/** Where people use passkeys: a browser gives those of one site to no other. */
export interface PasskeySite {
  /** Domain that passkeys belong to (RP ID). */
  rpId: string;
  /** Of the pages that ask for them. */
  origin: string;
}

/** A new passkey, as browsers write it (`PublicKeyCredential.toJSON()`, without what is not checked). */
export interface PasskeyRegistration {
  id: string;
  rawId: string;
  type: 'public-key';
  response: { clientDataJSON: string; attestationObject: string };
}

/** What a passkey signed, as browsers write it. */
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

/** What a browser or a device sent is not good. */
export class PasskeyError extends Error {
  override name = 'PasskeyError';
}

const CHALLENGE_BYTES = 32;

/**
 * The site of passkeys under an origin. Browsers know none without TLS, but on this machine, and none for addresses.
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

/** What a passkey is to sign: 256 random bits, base64url. */
export function newChallenge(): string {
  return randomBytes(CHALLENGE_BYTES).toString('base64url');
}

/** How devices name the account of a passkey: the bytes of its id, base64url. It says nothing of its user. */
export function userHandleOf(userId: string): string {
  return Buffer.from(userId.replaceAll('-', ''), 'hex').toString('base64url');
}

/**
 * Checks what a browser sent of a new passkey. Devices are not asked who made them: a certificate of theirs is refused,
 * as its check would fetch what it names.
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
 * Checks a signature of a passkey, whose device verified its user by a PIN, a finger or a face.
 *
 * @param publicKey as {@link checkPasskeyRegistration} returned it
 * @returns the counter of the device: whether it grew is for the caller to say
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
    // WebAuthn, 7.2, step 6: a passkey says whose it is.
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

/** Loaded with the first passkey: it takes 29 MB. */
async function library() {
  const [server, helpers] = await Promise.all([
    import('@simplewebauthn/server'),
    import('@simplewebauthn/server/helpers'),
  ]);
  return { ...server, decodeAttestationObject: helpers.decodeAttestationObject };
}

/** The library throws plain errors for what a client sent. */
async function refusing<T>(check: () => Promise<T>): Promise<T> {
  try {
    return await check();
  } catch (error) {
    if (error instanceof PasskeyError) throw error;
    throw new PasskeyError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
