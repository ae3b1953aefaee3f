import { tokenOfHeader } from '@outrider/auth';
import { isoTime, type User } from '@outrider/domain';
import { z } from 'zod';
import { timeOut } from '../fields.ts';
import { Problem } from '../problem.ts';
import { type Doorkeeper, type OpenContext, openRoute, type Reply, type Route, route } from '../route.ts';

const Token = z
  .strictObject({
    jwt: z.string().meta({ description: 'Send it as `Authorization: JWT <token>`. Its `exp` is in Unix seconds.' }),
    expiresAt: timeOut,
  })
  .meta({ id: 'Token' });

/** What the refusal of a login says, whatever of it was wrong. */
function wrongCredentials(): Problem {
  return new Problem('wrong-credentials', 'There is no account with this login and this password.', {
    headers: { 'www-authenticate': 'JWT realm="outrider"' },
  });
}

export function noApiAccess(): Problem {
  return new Problem('no-api-access', 'The right to use the API is granted by the operator.');
}

async function tokenReply(
  { tokens }: Doorkeeper,
  user: User,
  sessionId: Parameters<Doorkeeper['tokens']['issue']>[1],
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
    group: 'Authorization',
    operationId: 'login',
    summary: 'Log in and obtain a JWT.',
    query: z.object({
      jwt: z
        .literal('1', { error: 'It must be 1: a JWT is asked for.' })
        .meta({ description: 'The value 1 asks for a JWT.' }),
    }),
    body: z
      .strictObject({ login: z.string().min(1).max(1000), password: z.string().min(1).max(1000) })
      .meta({ id: 'Credentials', examples: [{ login: 'admin', password: 'correct horse battery staple' }] }),
    answers: { 200: { description: 'Logged in.', body: Token } },
    problems: ['wrong-credentials', 'no-api-access', 'unavailable'],
    async handle({ body }, { address, header, doorkeeper }) {
      const known = await doorkeeper.users.authenticate(body.login, body.password);
      const user = known && doorkeeper.user(known.id);
      if (!user || user.blocked) throw wrongCredentials();
      await doorkeeper.refuseBlocked(user);
      if (!user.apiAccess) throw noApiAccess();
      const { sessionTtlMs, sessions } = doorkeeper;
      const session = await sessions.create(user.id, sessionTtlMs, address, header('user-agent') ?? '');
      return tokenReply(doorkeeper, user, session.id);
    },
  }),
  openRoute({
    method: 'post',
    path: '/auth/refresh',
    group: 'Authorization',
    operationId: 'refresh',
    summary: 'Obtain a new JWT for one that has expired.',
    description:
      'Takes the JWT from the login, or a later one of its session, expired or not, in the header ' +
      '`Authorization-Refresh: JWT <token>`; `Authorization: JWT <token>` is taken on this path too. It works until ' +
      'the session ends.',
    headers: { 'Authorization-Refresh': '`JWT <token>`, with the token from the login or a later one of its session.' },
    answers: { 200: { description: 'A new token of the same session.', body: Token } },
    problems: ['not-authorized', 'no-api-access'],
    async handle(_, context) {
      const { doorkeeper, address } = context;
      const verified = await doorkeeper.tokens.verifyIgnoringExpiry(tokenToRefresh(context));
      if (verified.error !== undefined) throw refused(verified.error);
      const session = await doorkeeper.sessions.get(verified.sessionId);
      const user = doorkeeper.user(verified.userId);
      if (session?.userId !== verified.userId || !user || user.blocked) throw refused('ended');
      await doorkeeper.refuseBlocked(user);
      if (!user.apiAccess) throw noApiAccess();
      await doorkeeper.sessions.touch(session.id, address);
      return tokenReply(doorkeeper, user, session.id);
    },
  }),
  route({
    method: 'post',
    path: '/auth/logout',
    group: 'Authorization',
    operationId: 'logout',
    summary: 'End the session: its tokens work no more, not even for a refresh.',
    answers: { 204: { description: 'Ended.' } },
    async handle(_, { reach, caller, sessionId }) {
      await reach.endSession(caller.id, sessionId);
      return { status: 204 };
    },
  }),
  openRoute({
    method: 'get',
    path: '/.well-known/jwks.json',
    group: 'Authorization',
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
          .meta({ id: 'KeySet' }),
      },
    },
    async handle(_, { doorkeeper }) {
      return { status: 200, body: doorkeeper.tokens.jwks, headers: { 'cache-control': 'public, max-age=300' } };
    },
  }),
];
