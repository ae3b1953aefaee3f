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
        'Token for `POST /auth/refresh` only. It can be used any number of times until the session ends. The `jwt` itself can be refreshed as well, until `REFRESH_EXPIRED_HOURS` (default: 24) after it has expired.',
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
  'account-blocked': 'The account is blocked. Ask the dealer or operator who manages it.',
  'account-expired': 'The account has expired. Ask the dealer or operator who manages it.',
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
  return new Problem('no-api-access', 'This account has no right to use the API. An operator can grant it.');
}

export function crossOrigin(): Problem {
  return new Problem(
    'cross-origin',
    'Only pages of this service may begin a console session, or make changes with its cookie.',
  );
}

async function tokenReply({ tokens }: Authentication, user: User, session: Session, generation = 0): Promise<Reply> {
  const { jwt, expiresAtMs } = await tokens.issue(user.id, session.id, generation);
  const refresh = await tokens.issueRefresh(user.id, session.id, session.expiresAtMs);
  return { status: 200, body: { jwt, expiresAt: isoTime(expiresAtMs), refresh } };
}

/** Documented response of a login that began a console session. */
export const sessionBegun: Answer = {
  description: 'The session has begun; its cookie is set.',
  headers: { 'Set-Cookie': 'Cookie of the console session.' },
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
  return new Problem('not-authorized', `The token is not accepted: ${why}.`, {
    headers: { 'www-authenticate': `JWT realm="outrider", error="${why}"` },
  });
}

const jwtAsked = z.literal('1', { error: 'It must be 1 to request a JWT, or be left out.' }).optional();

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
    summary: 'Log in: get a JWT, or begin a console session.',
    description:
      'With `jwt=1`, the response is a JWT; the account needs the right to use the API. Without it, a console session ' +
      'begins, in a cookie that scripts cannot read and other sites cannot send. Calls with the cookie are authorized like ' +
      'calls with a JWT; those that change something must come from a page of this service. The body is JSON or a form. ' +
      'For an account with a second factor, the problem `second-factor-needed` asks to log in again with `totp` or ' +
      '`passkey`. If the password is right but the account is blocked or has expired, the problem is `account-blocked` or ' +
      '`account-expired`; the same applies to any call with a token, key or session of such an account.',
    query: z.object({ jwt: jwtAsked.meta({ description: 'The value 1 requests a JWT.', examples: ['1'] }) }),
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
              'For an account with a second factor: the current code of its app, or a recovery code. Each code can be used once.',
            examples: ['287082'],
          }),
        passkey: SignedPasskeyIn.optional().meta({
          description:
            'In place of `totp`: the challenge of `POST /auth/passkey/options`, signed by a passkey of the account.',
        }),
        service: line(100)
          .optional()
          .meta({
            description:
              'Name of the client, such as an external system. The list of sessions shows it in place of the `User-Agent`.',
            examples: ['Dispatch'],
          }),
      })
      .meta({ id: 'Credentials', examples: [{ login: 'admin', password: 'correct horse battery staple' }] }),
    answers: {
      200: { description: 'The session has begun. The body contains its token.', body: Token },
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
    summary: 'Refresh a JWT that has expired or is about to expire.',
    description:
      'Send the JWT from the login, or a later JWT of its session, expired or not, or the token `refresh` that came with ' +
      'it, in the header `Authorization-Refresh: JWT <token>`; the word JWT may be left out. `Authorization: JWT ' +
      '<token>` is accepted on this path too, and so is a header with a space in its name, `Authorization refresh: JWT ' +
      '<token>`. That is not valid HTTP, so the connection is closed after the response.\n\nThe token `refresh` is valid until ' +
      'the session ends. A JWT can be refreshed until `REFRESH_EXPIRED_HOURS` (default: 24) after it has expired. A JWT from ' +
      'an earlier refresh counts as replaced once its successor was used. For one minute it can still be refreshed, for ' +
      'calls that run in parallel. After that, refreshing it ends the session, because the token may have been stolen; the ' +
      'audit trail records `token-reused`. The JWT from the login can be refreshed any number of times.',
    query: z.object({
      jwt: jwtAsked.meta({
        description: 'Accepted as in the login, but without effect: a refresh always returns a JWT.',
        examples: ['1'],
      }),
    }),
    headers: {
      'Authorization-Refresh': {
        description: '`JWT <token>`, with a token from the login or from a later refresh of its session.',
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
    summary: 'End the session. Its tokens are no longer accepted, not even for a refresh.',
    scope: null,
    answers: {
      204: {
        description: 'The session is ended.',
        headers: { 'Set-Cookie': 'Deletes the session cookie, if the call was made with one.' },
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
    summary: 'Get the ways to log in besides login and password.',
    answers: {
      200: {
        description: 'The ways to log in.',
        body: z
          .strictObject({
            openId: z.strictObject({ name: z.string() }).nullable().meta({
              description:
                'Sign-in by OpenID Connect, which a browser begins at `/auth/oidc/start`. Null: it is not configured.',
            }),
            passkeyOrigin: z.string().nullable().meta({
              description:
                'Origin of the pages on which passkeys can sign in. Null: passkeys are unavailable, because they need HTTPS and a host name.',
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
    summary: 'Get the public keys with which tokens can be verified (RFC 7517).',
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
