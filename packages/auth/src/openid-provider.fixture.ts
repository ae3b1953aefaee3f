import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';

/** An OpenID Connect provider on this machine, which can be made to misbehave. */
export interface TestProvider {
  issuer: string;
  /** Claims of the next ID tokens. */
  claims: JWTPayload;
  /** Claims that replace those that are right, such as another `aud`. */
  wrong: JWTPayload;
  /** Signs with a key that it does not publish. */
  signsWithAnotherKey: boolean;
  /** Lets somebody sign in at the URL that the browser was sent to. @returns the URL that the browser comes back to */
  signIn(url: string): URL;
  close(): Promise<void>;
}

export const CLIENT = { clientId: 'outrider', clientSecret: 'a secret of the client' };

export async function startProvider(): Promise<TestProvider> {
  const keys = await generateKeyPair('RS256');
  const others = await generateKeyPair('RS256');
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: '1', alg: 'RS256', use: 'sig' };
  /** Requests of browsers by their codes. */
  const begun = new Map<string, URLSearchParams>();

  async function tokenFor(body: URLSearchParams): Promise<object | null> {
    const asked = begun.get(body.get('code') ?? '');
    begun.delete(body.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(body.get('code_verifier') ?? '')
      .digest('base64url');
    if (asked?.get('code_challenge') !== challenge) return null;
    const now = Math.floor(Date.now() / 1000);
    const nonce = asked.get('nonce');
    const right = { iss: provider.issuer, aud: CLIENT.clientId, iat: now, exp: now + 300, ...(nonce && { nonce }) };
    const idToken = await new SignJWT({ ...right, ...provider.claims, ...provider.wrong })
      .setProtectedHeader({ alg: 'RS256', kid: '1' })
      .sign(provider.signsWithAnotherKey ? others.privateKey : keys.privateKey);
    return { access_token: 'access', token_type: 'Bearer', expires_in: 300, id_token: idToken };
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { issuer } = provider;
    const send = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (request.url === '/.well-known/openid-configuration')
      return void send(200, {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        response_types_supported: ['code'],
        id_token_signing_alg_values_supported: ['RS256'],
        token_endpoint_auth_methods_supported: ['client_secret_post'],
      });
    if (request.url?.startsWith('/authorize'))
      return void response.writeHead(302, { location: provider.signIn(`${issuer}${request.url}`).href }).end();
    if (request.url === '/jwks') return void send(200, { keys: [jwk] });
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const token = await tokenFor(new URLSearchParams(Buffer.concat(chunks).toString()));
    send(token === null ? 400 : 200, token ?? { error: 'invalid_grant' });
  }

  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const provider: TestProvider = {
    issuer: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    claims: { sub: 'anna-at-the-provider' },
    wrong: {},
    signsWithAnotherKey: false,
    signIn(url) {
      const asked = new URL(url).searchParams;
      const code = `code ${begun.size + 1}`;
      begun.set(code, asked);
      const back = new URL(asked.get('redirect_uri') ?? '');
      back.search = String(new URLSearchParams({ code, state: asked.get('state') ?? '', session_state: 'x' }));
      return back;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return provider;
}
