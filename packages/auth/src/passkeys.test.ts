import { describe, expect, test } from 'vitest';
import { Authenticator, type Said } from './authenticator.fixture.ts';
import { checkPasskeyAnswer, checkPasskeyRegistration, newChallenge, passkeySite, userHandleOf } from './passkeys.ts';

const SITE = { rpId: 'fleet.example.com', origin: 'https://fleet.example.com' };
const USER_ID = '01961f3c-9c32-7e5a-9d3f-4b8c2e6a0f79';

function made(said: Said = {}) {
  const device = new Authenticator();
  const challenge = newChallenge();
  const options = { challenge, rp: { id: SITE.rpId }, user: { id: userHandleOf(USER_ID) } };
  return { device, check: checkPasskeyRegistration(SITE, challenge, device.register(options, SITE.origin, said)) };
}

async function answered(said: Said = {}, of: { userId?: string; id?: string } = {}) {
  const { device, check } = made();
  const { publicKey } = await check;
  const challenge = newChallenge();
  const answer = device.answer({ challenge, rpId: SITE.rpId }, SITE.origin, said);
  return checkPasskeyAnswer(SITE, challenge, answer, { publicKey, userId: of.userId ?? USER_ID });
}

const WRONG: readonly [string, Said][] = [
  ['of another site', { origin: 'https://fleet.example.org' }],
  ['of a page on another port', { origin: 'https://fleet.example.com:8443' }],
  ['for another domain', { rpId: 'example.com' }],
  ['of another challenge', { challenge: newChallenge() }],
  ['of a device that did not verify its user', { verified: false }],
];

describe('a passkey', () => {
  test('is registered, and what it signs is checked with its key', async () => {
    expect(await made().check).toMatchObject({ counter: 0, credentialId: expect.stringMatching(/^[\w-]{22}$/) });
    expect(await answered()).toBe(1);
    expect(await answered({ counter: 0xffff_ffff })).toBe(0xffff_ffff);
  });

  test.each(WRONG)('%s is refused', async (_, said) => {
    await expect(made(said).check).rejects.toThrow(expect.objectContaining({ name: 'PasskeyError' }));
    await expect(answered(said)).rejects.toThrow(expect.objectContaining({ name: 'PasskeyError' }));
  });

  test('of another account is refused, and what another key signed', async () => {
    await expect(answered({}, { userId: USER_ID.replace('79', '80') })).rejects.toThrow('another account');
    const [mine, other] = [made(), made()];
    await other.check;
    const { publicKey } = await mine.check;
    const challenge = newChallenge();
    const answer = other.device.answer({ challenge, rpId: SITE.rpId }, SITE.origin);
    const known = { publicKey, userId: USER_ID };
    await expect(checkPasskeyAnswer(SITE, challenge, answer, known)).rejects.toThrow('signature');
  });

  test('with a certificate is refused before anything that the certificate names is fetched', async () => {
    const statement = new Map<string, number | Uint8Array[] | Uint8Array>([
      ['alg', -7],
      ['sig', Buffer.alloc(70)],
      ['x5c', [Buffer.alloc(300)]],
    ]);
    for (const format of ['packed', 'fido-u2f', 'tpm'])
      await expect(made({ attestation: { format, statement } }).check).rejects.toThrow('certificate');
  });

  test('is refused where it is no passkey at all', async () => {
    const credential = { id: 'AA', rawId: 'AA', type: 'public-key' as const };
    const response = { clientDataJSON: 'e30', attestationObject: 'AA', authenticatorData: 'AA', signature: 'AA' };
    const userHandle = userHandleOf(USER_ID);
    await expect(checkPasskeyRegistration(SITE, 'x', { ...credential, response })).rejects.toThrow(
      expect.objectContaining({ name: 'PasskeyError' }),
    );
    const answer = { ...credential, response: { ...response, userHandle } };
    await expect(checkPasskeyAnswer(SITE, 'x', answer, { publicKey: 'AA', userId: USER_ID })).rejects.toThrow(
      expect.objectContaining({ name: 'PasskeyError' }),
    );
  });
});

test('passkeys belong to the domain of an origin with TLS, or of this machine', () => {
  expect(passkeySite('https://fleet.example.com')).toEqual(SITE);
  expect(passkeySite('https://fleet.example.com:8443')?.rpId).toBe('fleet.example.com');
  expect(passkeySite('http://localhost:8080')).toEqual({ rpId: 'localhost', origin: 'http://localhost:8080' });
  for (const origin of ['http://fleet.example.com', 'https://192.0.2.1', 'https://[2001:db8::1]', 'no origin', null])
    expect(passkeySite(origin)).toBeNull();
});
