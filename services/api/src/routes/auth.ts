import { Problem } from '@outrider/access';
import { setSessionCookie, tokenOfHeader } from '@outrider/auth';
import { isoTime, type User } from '@outrider/domain';
import { z } from 'zod';
import { timeOut } from '../fields.ts';
import { type Authentication, type OpenContext, openRoute, type Reply, type Route, route } from '../route.ts';

const Token = z
  .strictObject({
    jwt: z.string().meta({ description: 'Send it as `Authorization: JWT <token>`. Its `exp` is in Unix seconds.' }),
    expiresAt: timeOut,
  })
  .meta({
    id: 'Token',
    examples: [
      {
        jwt: 'eyJhbGciOiJFZERTQSIsImtpZCI6IjEifQ.eyJzdWIiOiIwMTk2In0.c2lnbmF0dXJl',
        expiresAt: '2026-01-15T13:00:00.000Z',
      },
    ],
  });

/** What the refusal of a login says, whatever of it was wrong. */
function wrongCredentials(): Problem {
  return new Problem('wrong-credentials', 'There is no account with this login and this password.', {
    headers: { 'www-authenticate': 'JWT realm="outrider"' },
  });
}

export function noApiAccess(): Problem {
  return new Problem('no-api-access', 'The right to use the API is granted by the operator.');
}

export function crossOrigin(): Problem {
  return new Problem('cross-origin', 'With the cookie of the console, only its own pages may change something.');
}

async function tokenReply(
  { tokens }: Authentication,
  user: User,
  sessionId: Parameters<Authentication['tokens']['issue']>[1],
): Promise<Reply> {
  const { jwt, expiresAtMs } = await tokens.issue(user.id, sessionId);
  return { status: 200, body: { jwt, expiresAt: isoTime(expiresAtMs) } };
}

/** The JWT of a refresh: under the spec's header, or, on this one path, where every other call has it. */
function tokenToRefresh({ header }: OpenContext): string {
  const given = header('authorization-refresh') ?? header('authorization');
  const token = tokenOfHeader(given);
  if (token === null) throw refused(given === undefined ? 'missing' : 'malformed');
  return token;
}

/** The answer to a token that is not taken. */
export function refused(why: string): Problem {
  return new Problem('not-authorized', `The token is not taken: ${why}.`, {
    headers: { 'www-authenticate': `JWT realm="outrider", error="${why}"` },
  });
}

export const authRoutes: Route[] = [
  openRoute({
    method: 'post',
    path: '/auth/login',
    group: 'Authentication',
    operationId: 'login',
    summary: 'Log in and obtain a JWT, or begin a session of the console.',
    description:
      'With `jwt=1` it gives a JWT, which needs the right to use the API. Without, it begins the session of the console ' +
      'in a cookie that scripts can not read and other sites can not send; calls with it are as good as with a JWT, and ' +
      'those that change something must come from a page of this service.',
    query: z.object({
      jwt: z
        .literal('1', { error: 'It must be 1, where a JWT is asked for, or left out.' })
        .optional()
        .meta({ description: 'The value 1 asks for a JWT.', examples: ['1'] }),
    }),
    body: z
      .strictObject({ login: z.string().min(1).max(1000), password: z.string().min(1).max(1000) })
      .meta({ id: 'Credentials', examples: [{ login: 'admin', password: 'correct horse battery staple' }] }),
    answers: {
      200: { description: 'Logged in: the token.', body: Token },
      204: { description: 'Logged in: the cookie.', headers: { 'Set-Cookie': 'Session of the console.' } },
    },
    problems: ['wrong-credentials', 'no-api-access', 'cross-origin', 'unavailable'],
    async handle({ query, body }, { arrival, header, authentication }) {
      // Nobody else's page may log a browser in, not even to an account of its own.
      if (query.jwt === undefined && arrival.origin() === 'other') throw crossOrigin();
      const known = await authentication.authenticate(body.login, body.password, arrival);
      const user = known && authentication.user(known.id);
      if (!user || user.blocked) {
        await authentication.noteFailedLogin(body.login, user ? 'blocked' : 'wrong login or password', arrival);
        throw wrongCredentials();
      }
      await authentication.refuseBlocked(user);
      if (query.jwt !== undefined && !user.apiAccess) {
        await authentication.noteFailedLogin(body.login, 'no right to use the API', arrival);
        throw noApiAccess();
      }
      const { sessionTtlMs, tokens } = authentication;
      const session = await authentication.beginSession(user, arrival, header('user-agent') ?? '');
      if (query.jwt !== undefined) return tokenReply(authentication, user, session.id);
      const token = await tokens.issueCookie(user.id, session.id, session.expiresAtMs);
      const cookie = setSessionCookie(token, arrival.secure, Math.floor(sessionTtlMs / 1000));
      return { status: 204, headers: { 'set-cookie': cookie } };
    },
  }),
  openRoute({
    method: 'post',
    path: '/auth/refresh',
    group: 'Authentication',
    operationId: 'refresh',
    summary: 'Obtain a new JWT for one that has expired.',
    description:
      'Takes the JWT from the login, or a later one of its session, expired or not, in the header ' +
      '`Authorization-Refresh: JWT <token>`; `Authorization: JWT <token>` is taken on this path too, and so is the header ' +
      'written with a space, `Authorization refresh: JWT <token>`, which is no legal HTTP: the connection is closed after ' +
      'the answer to it. It works until the session ends.',
    headers: {
      'Authorization-Refresh': {
        description: '`JWT <token>`, with the token from the login or a later one of its session.',
        example: 'JWT eyJhbGciOiJFZERTQSIsImtpZCI6IjEifQ.eyJzdWIiOiIwMTk2In0.c2lnbmF0dXJl',
      },
    },
    ignoresBody: true,
    answers: { 200: { description: 'A new token of the same session.', body: Token } },
    problems: ['not-authorized', 'no-api-access'],
    async handle(_, context) {
      const { authentication, arrival } = context;
      const verified = await authentication.tokens.verifyIgnoringExpiry(tokenToRefresh(context));
      if (verified.error !== undefined) throw refused(verified.error);
      const session = await authentication.sessions.get(verified.sessionId);
      const user = authentication.user(verified.userId);
      if (session?.userId !== verified.userId || !user || user.blocked) throw refused('ended');
      await authentication.refuseBlocked(user);
      if (!user.apiAccess) throw noApiAccess();
      await authentication.sessions.touch(session.id, arrival.address);
      return tokenReply(authentication, user, session.id);
    },
  }),
  route({
    method: 'post',
    path: '/auth/logout',
    group: 'Authentication',
    operationId: 'logout',
    summary: 'End the session: its tokens work no more, not even for a refresh.',
    answers: {
      204: { description: 'Ended.', headers: { 'Set-Cookie': 'Takes the cookie away, where it brought one.' } },
    },
    async handle(_, { access, caller, sessionId, via, arrival }) {
      await access.endSession(caller.id, sessionId);
      if (via === 'jwt') return { status: 204 };
      return { status: 204, headers: { 'set-cookie': setSessionCookie('', arrival.secure, 0) } };
    },
  }),
  openRoute({
    method: 'get',
    path: '/.well-known/jwks.json',
    group: 'Authentication',
    operationId: 'jwks',
    summary: 'Public keys that tokens can be verified with (RFC 7517).',
    answers: {
      200: {
        description: 'The keys.',
        body: z
          .strictObject({
            keys: z.array(
              z.strictObject({
                kty: z.literal('OKP'),
                crv: z.literal('Ed25519'),
                x: z.string(),
                kid: z.string(),
                alg: z.literal('EdDSA'),
                use: z.literal('sig'),
              }),
            ),
          })
          .meta({
            id: 'KeySet',
            examples: [
              {
                keys: [
                  {
                    kty: 'OKP',
                    crv: 'Ed25519',
                    x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
                    kid: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
                    alg: 'EdDSA',
                    use: 'sig',
                  },
                ],
              },
            ],
          }),
      },
    },
    async handle(_, { authentication }) {
      return { status: 200, body: authentication.tokens.jwks, headers: { 'cache-control': 'public, max-age=300' } };
    },
  }),
];
