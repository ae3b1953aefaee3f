import { isoTime, type UserId } from '@outrider/domain';
import type { SecondFactor } from '@outrider/registry';
import { z } from 'zod';
import { id, timeOut } from '../../fields/fields.ts';
import { callsOf, type Route, sessionOf } from '../../route.ts';

const { get, post, remove } = callsOf('Users');

const SecondFactorOut = z
  .strictObject({
    enabled: z.boolean().meta({ description: 'Whether the account has an authenticator app.' }),
    enabledAt: timeOut.nullable(),
    passkeys: z.int().meta({
      description:
        'Number of passkeys of the account. With at least one, logins need a second factor even without an app.',
    }),
    recoveryCodes: z.int().meta({ description: 'Number of recovery codes that were not used yet.' }),
  })
  .meta({
    id: 'SecondFactor',
    examples: [{ enabled: true, enabledAt: '2026-01-15T08:00:00.000Z', passkeys: 1, recoveryCodes: 10 }],
  });

const RecoveryCodesOut = z
  .strictObject({
    recoveryCodes: z.array(z.string()).meta({
      description: 'Each code can be used once, in place of a code of the app. Only this response contains them.',
    }),
  })
  .meta({ id: 'RecoveryCodes', examples: [{ recoveryCodes: ['k3vq-7d2m-xj5a-w6tn'] }] });

export const currentPassword = z.strictObject({ currentPassword: z.string().min(1).max(1000) }).meta({
  id: 'CurrentPassword',
  examples: [{ currentPassword: 'correct horse battery staple' }],
});
const byId = z.object({ id: id<UserId>() });
const described = { description: 'The second factors of the account.', body: SecondFactorOut };

function factorBody(factor: SecondFactor | null): z.output<typeof SecondFactorOut> {
  const enabledAtMs = factor?.confirmedAtMs ?? null;
  return {
    enabled: enabledAtMs !== null,
    enabledAt: enabledAtMs === null ? null : isoTime(enabledAtMs),
    passkeys: factor?.passkeys ?? 0,
    recoveryCodes: factor?.recoveryCodes ?? 0,
  };
}

export const secondFactorRoutes: Route[] = [
  get('/api/v1/me/second-factor', {
    operationId: 'getMySecondFactor',
    scope: null,
    summary: 'Check whether the caller’s own account has a second factor.',
    answers: { 200: described },
    problems: ['forbidden'],
    async handle(_, { access, caller }) {
      return { status: 200, body: factorBody(await access.secondFactor.get(caller.id)) };
    },
  }),
  post('/api/v1/me/second-factor', {
    operationId: 'beginSecondFactor',
    scope: null,
    answersSecret: true,
    summary: 'Get a secret for an authenticator app (TOTP, RFC 6238).',
    description:
      'The secret takes effect with `POST /api/v1/me/second-factor/confirm`. Until then, logins need no code of it, and another call replaces it.',
    body: currentPassword,
    answers: {
      200: {
        description: 'The secret, as text and for a QR code.',
        body: z
          .strictObject({
            secret: z.string().meta({ description: 'Base32, to be typed into the app.' }),
            uri: z.string().meta({ description: 'The secret as a URI, to be shown as a QR code.' }),
          })
          .meta({
            id: 'SecondFactorSecret',
            examples: [
              {
                secret: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ',
                uri: 'otpauth://totp/Outrider:anna?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Outrider&algorithm=SHA1&digits=6&period=30',
              },
            ],
          }),
      },
    },
    problems: ['forbidden', 'conflict', 'unavailable'],
    async handle({ body }, { access, sessionId }) {
      const answer = await access.secondFactor.begin(body.currentPassword, sessionOf({ sessionId }));
      return { status: 200, body: answer };
    },
  }),
  post('/api/v1/me/second-factor/confirm', {
    operationId: 'confirmSecondFactor',
    scope: null,
    answersSecret: true,
    summary: 'Enable the authenticator app, with a code that it made from the secret.',
    body: z
      .strictObject({ totp: z.string().trim().min(1).max(100) })
      .meta({ id: 'SecondFactorConfirmation', examples: [{ totp: '287082' }] }),
    answers: {
      200: { description: 'The app is enabled. Logins need a second factor from now on.', body: RecoveryCodesOut },
    },
    problems: ['forbidden', 'not-found'],
    async handle({ body }, { access, nowMs }) {
      return { status: 200, body: { recoveryCodes: await access.secondFactor.confirm(body.totp, nowMs) } };
    },
  }),
  post('/api/v1/me/second-factor/recovery-codes', {
    operationId: 'renewRecoveryCodes',
    scope: null,
    answersSecret: true,
    summary: 'Get new recovery codes. Earlier ones are no longer accepted.',
    body: currentPassword,
    answers: { 200: { description: 'The new recovery codes, which are not shown again.', body: RecoveryCodesOut } },
    problems: ['forbidden', 'not-found', 'unavailable'],
    async handle({ body }, { access, sessionId }) {
      const codes = await access.secondFactor.renewRecoveryCodes(body.currentPassword, sessionOf({ sessionId }));
      return { status: 200, body: { recoveryCodes: codes } };
    },
  }),
  post('/api/v1/me/second-factor/disable', {
    operationId: 'disableSecondFactor',
    scope: null,
    summary: 'Remove the authenticator app. Without passkeys, logins then need only the password.',
    body: currentPassword,
    answers: { 204: { description: 'The app is removed. Passkeys remain.' } },
    problems: ['forbidden', 'not-found', 'unavailable'],
    async handle({ body }, { access, sessionId }) {
      await access.secondFactor.disable(body.currentPassword, sessionOf({ sessionId }));
      return { status: 204 };
    },
  }),
  get('/api/v1/users/{id}/second-factor', {
    operationId: 'getSecondFactor',
    scope: null,
    summary: 'Check whether an account has a second factor.',
    params: byId,
    answers: { 200: described },
    problems: ['not-found', 'forbidden'],
    async handle({ params }, { access }) {
      return { status: 200, body: factorBody(await access.secondFactor.get(params.id)) };
    },
  }),
  remove('/api/v1/users/{id}/second-factor', {
    operationId: 'removeSecondFactor',
    scope: null,
    summary: 'Remove the app, passkeys and recovery codes of an account whose user has lost them.',
    description: 'For operators only, and not for their own account. If the account had passkeys, its sessions end.',
    params: byId,
    answers: { 204: { description: 'The account has no second factor.' } },
    problems: ['not-found', 'forbidden', 'conflict'],
    async handle({ params }, { access }) {
      await access.secondFactor.remove(params.id);
      return { status: 204 };
    },
  }),
];
