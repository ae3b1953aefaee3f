import { isoTime, type UserId } from '@outrider/domain';
import type { SecondFactor } from '@outrider/registry';
import { z } from 'zod';
import { id, timeOut } from '../../fields/fields.ts';
import { callsOf, type Route, sessionOf } from '../../route.ts';

const { get, post, remove } = callsOf('Users');

const SecondFactorOut = z
  .strictObject({
    enabled: z.boolean().meta({ description: 'Whether an app makes codes.' }),
    enabledAt: timeOut.nullable(),
    passkeys: z.int().meta({ description: 'How many passkeys it has: with one, logins need a second factor as well.' }),
    recoveryCodes: z.int().meta({ description: 'Recovery codes that were not used yet.' }),
  })
  .meta({
    id: 'SecondFactor',
    examples: [{ enabled: true, enabledAt: '2026-01-15T08:00:00.000Z', passkeys: 1, recoveryCodes: 10 }],
  });

const RecoveryCodesOut = z
  .strictObject({
    recoveryCodes: z.array(z.string()).meta({
      description: 'Each logs in once in place of a code of the app. They are shown here and never again.',
    }),
  })
  .meta({ id: 'RecoveryCodes', examples: [{ recoveryCodes: ['k3vq-7d2m-xj5a-w6tn'] }] });

export const currentPassword = z.strictObject({ currentPassword: z.string().min(1).max(1000) }).meta({
  id: 'CurrentPassword',
  examples: [{ currentPassword: 'correct horse battery staple' }],
});
const byId = z.object({ id: id<UserId>() });
const described = { description: 'Whether the account has a second factor.', body: SecondFactorOut };

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
    summary: 'Whether the own account has a second factor.',
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
    summary: 'Obtain a secret for an app that makes codes (TOTP, RFC 6238).',
    description:
      'The secret counts from `POST /api/v1/me/second-factor/confirm` on. Until then a login needs no code, and another call replaces it.',
    body: currentPassword,
    answers: {
      200: {
        description: 'The secret, as text and for a QR code.',
        body: z
          .strictObject({
            secret: z.string().meta({ description: 'Base32, to be typed into the app.' }),
            uri: z.string().meta({ description: 'The same for a QR code.' }),
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
    summary: 'Put the secret in force, with a code that the app made of it.',
    body: z
      .strictObject({ totp: z.string().trim().min(1).max(100) })
      .meta({ id: 'SecondFactorConfirmation', examples: [{ totp: '287082' }] }),
    answers: { 200: { description: 'In force: logins need a code from now on.', body: RecoveryCodesOut } },
    problems: ['forbidden', 'not-found'],
    async handle({ body }, { access, nowMs }) {
      return { status: 200, body: { recoveryCodes: await access.secondFactor.confirm(body.totp, nowMs) } };
    },
  }),
  post('/api/v1/me/second-factor/recovery-codes', {
    operationId: 'renewRecoveryCodes',
    scope: null,
    answersSecret: true,
    summary: 'Obtain other recovery codes; those from before work no more.',
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
    summary: 'Remove the app: without passkeys, a login needs the password alone.',
    body: currentPassword,
    answers: { 204: { description: 'The account has no second factor.' } },
    problems: ['forbidden', 'not-found', 'unavailable'],
    async handle({ body }, { access, sessionId }) {
      await access.secondFactor.disable(body.currentPassword, sessionOf({ sessionId }));
      return { status: 204 };
    },
  }),
  get('/api/v1/users/{id}/second-factor', {
    operationId: 'getSecondFactor',
    scope: null,
    summary: 'Whether an account has a second factor.',
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
    summary: 'Remove the second factor of an account whose user has lost it: app, passkeys, recovery codes.',
    description: 'For operators alone, and not for the own account. With passkeys, its sessions end.',
    params: byId,
    answers: { 204: { description: 'The account has no second factor.' } },
    problems: ['not-found', 'forbidden', 'conflict'],
    async handle({ params }, { access }) {
      await access.secondFactor.remove(params.id);
      return { status: 204 };
    },
  }),
];
