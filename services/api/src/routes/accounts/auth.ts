import { Problem } from '@outrider/access';
import { type Arrival, setSessionCookie, tokenToRefresh } from '@outrider/auth';
import { isoTime, type User } from '@outrider/domain';
import type { Session } from '@outrider/registry';
import { z } from 'zod';
import type { AccountBlock, Identity } from '../../context.ts';
import { line, timeOut } from '../../fields/fields.ts';
import { isForm } from '../../http/input.ts';
import {
  type Answer,
  type Authentication,
  type OpenContext,
  openRoute,
  type Reply,
  type Route,
  route,
  type SecondFactorProof,
  sessionOf,
} from '../../route.ts';
import { beginConsoleSession } from '../../sign-in/console-session.ts';
import { SignedPasskeyIn } from './signed-passkey.ts';

const Token = z
  .strictObject({
    jwt: z.string().meta({ description: 'Send it as `Authorization: JWT <token>`. Its `exp` is in Unix seconds.' }),
    expiresAt: timeOut,
    refresh: z.string().meta({
      description:
        'For `POST /auth/refresh` and nothing else, as often as it is needed, until the session ends. The `jwt` itself can be refreshed as well, until `REFRESH_EXPIRED_HOURS` (24) after it has expired.',
    }),
  })
  .meta({
    id: 'Token',
    examples: [
      {
        jwt: 'eyJhbGciOiJFZERTQSIsImtpZCI6IjEifQ.eyJzdWIiOiIwMTk2In0.c2lnbmF0dXJl',
        expiresAt: '2026-01-15T13:00:00.000Z',
        refresh: 'eyJhbGciOiJFZERTQSIsInR5cCI6InJlZnJlc2grand0In0.eyJzdWIiOiIwMTk2In0.c2lnbmF0dXJl',
      },
    ],
  });

const BLOCKS: Record<AccountBlock, string> = {
  'account-blocked': 'The account is blocked: ask those who manage it.',
  'account-expired': 'The account worked until a time that is over: ask those who manage it.',
};

/** Refusal of a blocked account that has proved its identity. */
export function accountRefused(why: AccountBlock): Problem {
  return new Problem(why, BLOCKS[why], { headers: { 'www-authenticate': `JWT realm="outrider", error="${why}"` } });
}

/** Refusal of a login. It does not reveal whether the login or the password was wrong. */
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

async function tokenReply({ tokens }: Authentication, user: User, session: Session, generation = 0): Promise<Reply> {
  const { jwt, expiresAtMs } = await tokens.issue(user.id, session.id, generation);
  const refresh = await tokens.issueRefresh(user.id, session.id, session.expiresAtMs);
  return { status: 200, body: { jwt, expiresAt: isoTime(expiresAtMs), refresh } };
}

/** Documented response of a login that began a console session. */
export const sessionBegun: Answer = {
  description: 'The session has begun; its cookie is set.',
  headers: { 'Set-Cookie': 'Session of the console.' },
};

/** Begins a console session and sets its cookie. */
export async function beginConsole(
  authentication: Authentication,
  user: User,
  arrival: Arrival,
  agent: string,
): Promise<Reply> {
  const cookie = await beginConsoleSession(authentication, user, arrival, agent);
  return { status: 204, headers: { 'set-cookie': cookie } };
}

/** Token of a refresh: in the specification's header or, on this path only, in the usual `Authorization` header. */
function tokenIn({ header }: OpenContext): string {
  const given = header('authorization-refresh') ?? header('authorization');
  const token = tokenToRefresh(given);
  if (token === null) throw refused(given === undefined ? 'missing' : 'malformed');
  return token;
}

/** Refusal of an invalid token. */
export function refused(why: Extract<Identity, { refused: string }>['refused']): Problem {
  if (why === 'account-blocked' || why === 'account-expired') return accountRefused(why);
  return new Problem('not-authorized', `The token is not taken: ${why}.`, {
    headers: { 'www-authenticate': `JWT realm="outrider", error="${why}"` },
  });
}

const jwtAsked = z.literal('1', { error: 'It must be 1, where a JWT is asked for, or left out.' }).optional();

/**
 * Checks login and password, and a code or passkey if the account has a second factor.
 *
 * @param needsApi whether the account needs the right to use the API
 * @throws {Problem} unless the account may log in
 */
export async function checkedUser(
  authentication: Authentication,
  { login, password, ...proof }: { login: string; password: string } & SecondFactorProof,
  arrival: Arrival,
  needsApi: boolean,
): Promise<User> {
  const known = await authentication.authenticate(login, password, arrival);
  const user = known && authentication.user(known.id);
  if (!user) {
    await authentication.noteFailedLogin(login, 'wrong login or password', arrival);
    throw wrongCredentials();
  }
  await authentication.refuseBlockedAccount(user, arrival);
  await authentication.refuseBlocked(user);
  await authentication.passSecondFactor(user, proof, arrival);
  if (needsApi && !user.apiAccess) {
    await authentication.noteFailedLogin(login, 'no right to use the API', arrival);
    throw noApiAccess();
  }
  return user;
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
      'those that change something must come from a page of this service. The body is JSON or a form. An account with a ' +
      'second factor is asked for it by the problem `second-factor-needed`: log in again with `totp` or `passkey`. With ' +
      'the right password, an account that is blocked, or whose time is over, is answered with `account-blocked` or ' +
      '`account-expired`; any call with a token, key or session of it is as well.',
    query: z.object({ jwt: jwtAsked.meta({ description: 'The value 1 asks for a JWT.', examples: ['1'] }) }),
    takesForm: true,
    body: z
      .strictObject({
        login: z.string().min(1).max(1000),
        password: z.string().min(1).max(1000),
        totp: z
          .string()
          .trim()
          .min(1)
          .max(100)
          .optional()
          .meta({
            description:
              'For an account with a second factor: the present code of its app, or a recovery code, each of which works once.',
            examples: ['287082'],
          }),
        passkey: SignedPasskeyIn.optional().meta({
          description: 'In place of `totp`: what a passkey of the account signed (`POST /auth/passkey/options`).',
        }),
        service: line(100)
          .optional()
          .meta({
            description:
              'What logs in, such as the name of an external system: the list of sessions shows it in place of the `User-Agent`.',
            examples: ['Dispatch'],
          }),
      })
      .meta({ id: 'Credentials', examples: [{ login: 'admin', password: 'correct horse battery staple' }] }),
    answers: {
      200: { description: 'The session has begun; its token.', body: Token },
      204: sessionBegun,
    },
    problems: [
      'wrong-credentials',
      'account-blocked',
      'account-expired',
      'second-factor-needed',
      'wrong-second-factor',
      'no-api-access',
      'cross-origin',
      'unavailable',
    ],
    async handle({ query, body }, { arrival, header, authentication }) {
      // Only this service's own pages may log a browser in: another page could log it in to an account of its own. Any
      // page can send a form.
      const origin = arrival.origin();
      if (query.jwt === undefined && (origin === 'other' || (isForm(header('content-type')) && origin !== 'same')))
        throw crossOrigin();
      const user = await checkedUser(authentication, body, arrival, query.jwt !== undefined);
      const agent = body.service ?? header('user-agent') ?? '';
      if (query.jwt === undefined) return beginConsole(authentication, user, arrival, agent);
      return tokenReply(authentication, user, await authentication.beginSession(user, arrival, agent));
    },
  }),
  openRoute({
    method: 'post',
    path: '/auth/refresh',
    group: 'Authentication',
    operationId: 'refresh',
    summary: 'Obtain a new JWT for one that has expired.',
    description:
      'Takes the JWT from the login, or a later one of its session, expired or not, or the token `refresh` that came with ' +
      'them, in the header `Authorization-Refresh: JWT <token>`; the word JWT may be left out. `Authorization: JWT ' +
      '<token>` is taken on this path too, and so is the header written with a space, `Authorization refresh: JWT ' +
      '<token>`, which is no legal HTTP: the connection is closed after the answer to it.\n\nThe token `refresh` works until ' +
      'the session ends, a JWT until `REFRESH_EXPIRED_HOURS` (24) after it has expired. A JWT from an earlier refresh is ' +
      'replaced once its successor was used: for a minute it still works, for calls that ran side by side; after that it ' +
      'ends the session, as somebody else may have it, and the audit trail has `token-reused`. That of the login can be ' +
      'refreshed as often as it is sent.',
    query: z.object({
      jwt: jwtAsked.meta({ description: 'As in the login; a refresh always gives a JWT.', examples: ['1'] }),
    }),
    headers: {
      'Authorization-Refresh': {
        description: '`JWT <token>`, with a token from the login or a later one of its session.',
        example: 'JWT eyJhbGciOiJFZERTQSIsImtpZCI6IjEifQ.eyJzdWIiOiIwMTk2In0.c2lnbmF0dXJl',
      },
    },
    ignoresBody: true,
    answers: { 200: { description: 'A new token of the same session.', body: Token } },
    problems: ['not-authorized', 'account-blocked', 'account-expired', 'no-api-access'],
    async handle(_, context) {
      const { authentication, arrival } = context;
      const verified = await authentication.tokens.verifyForRefresh(tokenIn(context));
      if (verified.error !== undefined) throw refused(verified.error);
      const session = await authentication.sessions.get(verified.sessionId);
      const user = authentication.user(verified.userId);
      if (user?.blocked) throw refused(await authentication.accountBlock(user.id));
      if (session?.userId !== verified.userId || !user) throw refused('ended');
      await authentication.refuseBlocked(user);
      if (!user.apiAccess) throw noApiAccess();
      const generation = await authentication.sessions.refresh(
        session.id,
        verified.generation ?? null,
        arrival.address,
      );
      if (generation === 'reused') authentication.tokens.revokeSession(session.id);
      if (generation === null || generation === 'reused') throw refused('ended');
      return tokenReply(authentication, user, session, generation);
    },
  }),
  route({
    method: 'post',
    path: '/auth/logout',
    group: 'Authentication',
    operationId: 'logout',
    summary: 'End the session: its tokens work no more, not even for a refresh.',
    scope: null,
    answers: {
      204: {
        description: 'The session is ended.',
        headers: { 'Set-Cookie': 'Takes the cookie away, where it brought one.' },
      },
    },
    async handle(_, { access, caller, sessionId, via, arrival }) {
      await access.users.endSession(caller.id, sessionOf({ sessionId }));
      if (via === 'jwt') return { status: 204 };
      return { status: 204, headers: { 'set-cookie': setSessionCookie('', arrival.secure, 0) } };
    },
  }),
  openRoute({
    method: 'get',
    path: '/auth/options',
    group: 'Authentication',
    operationId: 'getLoginOptions',
    summary: 'Ways to log in besides login and password.',
    answers: {
      200: {
        description: 'The ways to log in.',
        body: z
          .strictObject({
            openId: z.strictObject({ name: z.string() }).nullable().meta({
              description: 'Sign-in by OpenID Connect: a browser begins it at `/auth/oidc/start`. Null: there is none.',
            }),
            passkeyOrigin: z.string().nullable().meta({
              description:
                'Origin of the pages that passkeys sign in at. Null: they need HTTPS and the name of a host.',
            }),
          })
          .meta({
            id: 'LoginOptions',
            examples: [{ openId: { name: 'Company account' }, passkeyOrigin: 'https://fleet.example.com' }],
          }),
      },
    },
    async handle(_, { arrival, authentication: { openIdName, passkeys } }) {
      const openId = openIdName === null ? null : { name: openIdName };
      return { status: 200, body: { openId, passkeyOrigin: passkeys.site(arrival)?.origin ?? null } };
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
        description: 'The public keys, as a JSON Web Key Set.',
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
