import { isoTime, type PasskeyId } from '@outrider/domain';
import { MAX_PASSKEYS_PER_USER, type Passkey } from '@outrider/registry';
import { z } from 'zod';
import { id, idOut, line, timeOut } from '../../fields/fields.ts';
import { callsOf, openRoute, type Route, sessionOf } from '../../route.ts';
import { beginConsole, crossOrigin, sessionBegun } from './auth.ts';
import { currentPassword } from './second-factor.ts';
import { bytes, credentialFields, SignedPasskeyIn, state } from './signed-passkey.ts';

const { get, post, patch } = callsOf('Users');

const EXAMPLE = {
  ...{ id: '01961f3d-6eb2-7c3d-8e4f-7a8b9c0d1e2f', name: 'Laptop' },
  ...{ createdAt: '2026-01-15T12:00:00.000Z', lastUsedAt: '2026-01-15T12:05:00.000Z' },
};
const CHALLENGE = 'c2lnbiB0aGlzLCBhbmQgbm90aGluZyBlbHNlIG9mIGl0';
const STATE = 'eyJhbGciOiJFZERTQSIsInR5cCI6InN0YXRlK2p3dCJ9.eyJzdGF0ZSI6e319.c2lnbmF0dXJl';

const PasskeyOut = z
  .strictObject({
    id: idOut,
    name: z.string(),
    createdAt: timeOut,
    lastUsedAt: timeOut
      .nullable()
      .meta({ description: 'Time of the last sign-in with the passkey. Null: it was never used.' }),
  })
  .meta({
    id: 'Passkey',
    examples: [EXAMPLE],
  });

const PasskeyRequestOut = z
  .strictObject({
    state: z.string().meta({ description: 'Send it back with the signed challenge.' }),
    publicKey: z
      .strictObject({
        challenge: z.string(),
        rpId: z.string(),
        timeout: z.int(),
        userVerification: z.literal('required'),
      })
      .meta({ description: 'Input of `PublicKeyCredential.parseRequestOptionsFromJSON()`.' }),
  })
  .meta({
    id: 'PasskeyRequest',
    examples: [
      {
        state: STATE,
        publicKey: {
          challenge: CHALLENGE,
          rpId: 'fleet.example.com',
          timeout: 600_000,
          userVerification: 'required',
        },
      },
    ],
  });

const key = z.literal('public-key');
const PasskeyOptionsOut = z
  .strictObject({
    state: z.string().meta({ description: 'Send it back with the new passkey.' }),
    publicKey: z
      .strictObject({
        challenge: z.string(),
        rp: z.strictObject({ id: z.string(), name: z.string() }),
        user: z.strictObject({ id: z.string(), name: z.string(), displayName: z.string() }),
        pubKeyCredParams: z.array(z.strictObject({ type: key, alg: z.int() })),
        timeout: z.int(),
        attestation: z.literal('none'),
        authenticatorSelection: z.strictObject({
          residentKey: z.literal('required'),
          requireResidentKey: z.literal(true),
          userVerification: z.literal('required'),
        }),
        excludeCredentials: z.array(z.strictObject({ type: key, id: z.string() })),
      })
      .meta({ description: 'Input of `PublicKeyCredential.parseCreationOptionsFromJSON()`.' }),
  })
  .meta({
    id: 'PasskeyOptions',
    examples: [
      {
        state: STATE,
        publicKey: {
          challenge: CHALLENGE,
          rp: { id: 'fleet.example.com', name: 'Outrider' },
          user: { id: 'AZYfPJwyflqdP0uMLmoPeQ', name: 'anna', displayName: 'Anna' },
          pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
          timeout: 600_000,
          attestation: 'none',
          authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
          excludeCredentials: [],
        },
      },
    ],
  });

const name = line(100);
const byId = z.object({ id: id<PasskeyId>() });

function passkeyBody({ id, name, createdAtMs, lastUsedAtMs }: Passkey): z.output<typeof PasskeyOut> {
  return {
    id,
    name,
    createdAt: isoTime(createdAtMs),
    lastUsedAt: lastUsedAtMs === null ? null : isoTime(lastUsedAtMs),
  };
}

export const passkeyRoutes: Route[] = [
  openRoute({
    method: 'post',
    path: '/auth/passkey/options',
    group: 'Authentication',
    operationId: 'beginPasskeySignIn',
    summary: 'Get a challenge to be signed by a passkey.',
    description:
      'The challenge can be answered once, within ten minutes, with `POST /auth/passkey` or `POST /auth/login`.',
    answers: {
      200: { description: 'The challenge to be signed by a passkey of the account.', body: PasskeyRequestOut },
    },
    problems: ['conflict'],
    async handle(_, { arrival, authentication }) {
      const body = await authentication.passkeys.begin(arrival);
      return { status: 200, body, headers: { 'cache-control': 'no-store' } };
    },
  }),
  openRoute({
    method: 'post',
    path: '/auth/passkey',
    group: 'Authentication',
    operationId: 'signInByPasskey',
    summary: 'Begin a console session with a passkey alone.',
    description:
      'The passkey identifies the account. It counts as both factors, because its device has verified the user by a PIN, a fingerprint or a face.',
    body: SignedPasskeyIn,
    answers: { 204: sessionBegun },
    problems: ['wrong-passkey', 'account-blocked', 'account-expired', 'cross-origin'],
    async handle({ body }, { arrival, header, authentication }) {
      if (arrival.origin() === 'other') throw crossOrigin();
      const user = await authentication.authenticatePasskey(body, arrival);
      return beginConsole(authentication, user, arrival, header('user-agent') ?? '');
    },
  }),
  get('/api/v1/me/passkeys', {
    operationId: 'listMyPasskeys',
    scope: null,
    summary: 'List the passkeys of the caller’s own account, in the order of their creation.',
    answers: {
      200: {
        description: 'All passkeys of the account.',
        body: z.strictObject({ items: z.array(PasskeyOut) }).meta({ id: 'Passkeys', examples: [{ items: [EXAMPLE] }] }),
      },
    },
    problems: ['forbidden'],
    async handle(_, { access }) {
      return { status: 200, body: { items: (await access.passkeys.list()).map(passkeyBody) } };
    },
  }),
  post('/api/v1/me/passkeys/options', {
    operationId: 'beginPasskey',
    scope: null,
    summary: 'Get the options with which a browser creates a passkey.',
    description:
      'The passkey is bound to the host of `PUBLIC_URL` or, if that is not set, to the host that the call was sent to. Passkeys need HTTPS or `localhost`.',
    body: currentPassword,
    answers: { 200: { description: 'The options with which a browser creates a passkey.', body: PasskeyOptionsOut } },
    problems: ['forbidden', 'conflict', 'unavailable'],
    async handle({ body }, { access, sessionId, arrival }) {
      const options = await access.passkeys.begin(body.currentPassword, sessionOf({ sessionId }), arrival.site);
      return { status: 200, body: options, headers: { 'cache-control': 'no-store' } };
    },
  }),
  post('/api/v1/me/passkeys', {
    operationId: 'addPasskey',
    scope: null,
    answersSecret: true,
    summary: 'Add the passkey that a browser created.',
    description: `From then on, a login with the password needs a second factor: a passkey, a code of an app or a recovery code. An account may have at most ${MAX_PASSKEYS_PER_USER} passkeys.`,
    body: z
      .strictObject({
        state,
        name,
        credential: z
          .looseObject({
            ...credentialFields,
            response: z.looseObject({ clientDataJSON: bytes, attestationObject: bytes }),
          })
          .meta({ id: 'NewPasskeyCredential', description: 'Output of `PublicKeyCredential.toJSON()`.' }),
      })
      .meta({
        id: 'NewPasskey',
        examples: [
          {
            state: STATE,
            name: 'Laptop',
            credential: {
              ...{ id: 'AQIDBAUGBwg', rawId: 'AQIDBAUGBwg', type: 'public-key' },
              response: { clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0', attestationObject: 'o2NmbXRkbm9uZQ' },
            },
          },
        ],
      }),
    answers: {
      201: {
        description: 'The new passkey.',
        headers: { Location: 'URL of the list of passkeys.' },
        body: z
          .strictObject({
            passkey: PasskeyOut,
            recoveryCodes: z.array(z.string()).nullable().meta({
              description:
                'Recovery codes, if the passkey is the first second factor of the account; otherwise null. Only this response contains them.',
            }),
          })
          .meta({
            id: 'AddedPasskey',
            examples: [{ passkey: { ...EXAMPLE, lastUsedAt: null }, recoveryCodes: ['k3vq-7d2m-xj5a-w6tn'] }],
          }),
      },
    },
    problems: ['forbidden', 'conflict'],
    async handle({ body }, { access, arrival }) {
      const { passkey, recoveryCodes } = await access.passkeys.add(body, arrival.site);
      const headers = { location: '/api/v1/me/passkeys', 'cache-control': 'no-store' };
      return { status: 201, body: { passkey: passkeyBody(passkey), recoveryCodes }, headers };
    },
  }),
  patch('/api/v1/me/passkeys/{id}', {
    operationId: 'renamePasskey',
    scope: null,
    summary: 'Rename a passkey.',
    params: byId,
    body: z.strictObject({ name }).meta({ id: 'PasskeyPatch', examples: [{ name: 'Office laptop' }] }),
    answers: { 200: { description: 'The passkey with its new name.', body: PasskeyOut } },
    problems: ['forbidden', 'not-found'],
    async handle({ params, body }, { access }) {
      return { status: 200, body: passkeyBody(await access.passkeys.rename(params.id, body.name)) };
    },
  }),
  post('/api/v1/me/passkeys/{id}/remove', {
    operationId: 'removePasskey',
    scope: null,
    summary: 'Remove a passkey, and end all other sessions of the account.',
    params: byId,
    body: currentPassword,
    answers: { 204: { description: 'The passkey is removed.' } },
    problems: ['forbidden', 'not-found', 'unavailable'],
    async handle({ params, body }, { access, sessionId }) {
      await access.passkeys.remove(params.id, body.currentPassword, sessionOf({ sessionId }));
      return { status: 204 };
    },
  }),
];
