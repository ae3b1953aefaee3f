import { afterEach, beforeEach, expect, test } from 'vitest';
import { OpenIdError, OpenIdProvider } from './openid.ts';
import { CLIENT, startProvider, type TestProvider } from './openid-provider.fixture.ts';

const redirectUri = 'https://fleet.example.com/auth/oidc/callback';

let provider: TestProvider;
let client: OpenIdProvider;
beforeEach(async () => {
  provider = await startProvider();
  client = new OpenIdProvider({ ...CLIENT, issuer: provider.issuer, redirectUri, scopes: 'openid email' });
});
afterEach(() => provider.close());

test('somebody signs in by a code with PKCE, state and nonce', async () => {
  provider.claims = { sub: '4711', email: 'anna@example.com' };
  const { url, kept } = await client.start();
  const asked = Object.fromEntries(new URL(url).searchParams);
  expect(asked).toMatchObject({
    client_id: 'outrider',
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid email',
    code_challenge_method: 'S256',
    state: kept.state,
    nonce: kept.nonce,
  });
  const identity = await client.finish(provider.signIn(url).search, kept);
  expect(identity).toMatchObject({ issuer: provider.issuer, subject: '4711', claims: { email: 'anna@example.com' } });
});

test.each([
  ['issuer', { iss: 'https://evil.example' }],
  ['audience', { aud: 'another client' }],
  ['nonce', { nonce: 'another' }],
  ['time', { exp: Math.floor(Date.now() / 1000) - 600, iat: 1_700_000_000 }],
  ['subject', { sub: undefined }],
  ['signature', null],
])('an ID token of a wrong %s is refused', async (_, wrong) => {
  if (wrong === null) provider.signsWithAnotherKey = true;
  else provider.wrong = wrong as TestProvider['wrong'];
  const { url, kept } = await client.start();
  await expect(client.finish(provider.signIn(url).search, kept)).rejects.toThrow(OpenIdError);
});

test('a code of another sign-in, a wrong state, a used code and a refusal are refused', async () => {
  const [mine, other] = [await client.start(), await client.start()];
  await expect(client.finish(provider.signIn(other.url).search, mine.kept)).rejects.toThrow(OpenIdError);
  const back = provider.signIn(mine.url);
  await expect(client.finish(back.search, { ...mine.kept, verifier: other.kept.verifier })).rejects.toThrow(
    OpenIdError,
  );
  await expect(client.finish(back.search, mine.kept)).rejects.toThrow(OpenIdError);
  const refusal = `?error=access_denied&state=${mine.kept.state}`;
  await expect(client.finish(refusal, mine.kept)).rejects.toThrow(OpenIdError);
});

test('a provider that is unavailable is asked again with the next sign-in', async () => {
  await provider.close();
  await expect(client.start()).rejects.toThrow(OpenIdError);
  await expect(client.start()).rejects.toThrow(OpenIdError);
});
