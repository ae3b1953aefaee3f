import { requestPasswordReset, setPasswordByLink } from '@outrider/access';
import type { UserId } from '@outrider/domain';
import { LANGUAGES, type Language } from '@outrider/words';
import { z } from 'zod';
import { emailOf, id } from '../../fields/fields.ts';
import { callsOf, openRoute, type Route, sessionOf } from '../../route.ts';
import { password } from './users.ts';

const { get, post, put } = callsOf('Users');

/** Fixed response time of all reset requests, so that it does not reveal whether the account exists. */
const ANSWERED_AFTER_MS = 500;

const byId = z.object({ id: id<UserId>() });
const AccountEmail = z
  .strictObject({ email: z.string().nullable() })
  .meta({ id: 'AccountEmail', examples: [{ email: 'anna@example.com' }] });

export const accountMailRoutes: Route[] = [
  openRoute({
    method: 'post',
    path: '/auth/password-reset',
    group: 'Authentication',
    operationId: 'requestPasswordReset',
    summary: 'Send a link to reset a forgotten password.',
    description:
      'The link is sent to the e-mail address of the account, if it has one. It can be used once, within one hour. The response does not reveal whether the account exists.',
    body: z
      .strictObject({
        account: z.string().trim().min(1).max(320).meta({ description: 'Login or e-mail address of the account.' }),
        language: z
          .enum(LANGUAGES as [Language, ...Language[]])
          .default('en')
          .meta({ description: 'Language of the e-mail. Used only if the account has never stored preferences.' }),
      })
      .meta({ id: 'PasswordResetRequest', examples: [{ account: 'anna@example.com', language: 'en' }] }),
    answers: {
      204: { description: 'The link is sent if the account exists, is not blocked and has an e-mail address.' },
    },
    async handle({ body }, { authentication }) {
      const work = requestPasswordReset(authentication.passwordReset, body.account, body.language);
      await Promise.all([work, authentication.wait(ANSWERED_AFTER_MS)]);
      return { status: 204 };
    },
  }),
  openRoute({
    method: 'post',
    path: '/auth/password-reset/complete',
    group: 'Authentication',
    operationId: 'completePasswordReset',
    summary: 'Set the password of an account with the token of an e-mailed link.',
    description:
      'For links that reset a password and for invitations. All sessions of the account end; its second factor and its API keys remain.',
    body: z.strictObject({ token: z.string().min(1).max(200), password }).meta({
      id: 'PasswordResetCompletion',
      examples: [{ token: '2zVn0mJmGQ5mXf3uG8mX1m3l0c6Qv6pJq9b1o2s3t4u', password: 'new and unknown' }],
    }),
    answers: { 204: { description: 'The password is set.' } },
    problems: ['unavailable'],
    async handle({ body }, { authentication }) {
      await setPasswordByLink(authentication.passwordReset, body.token, body.password);
      return { status: 204 };
    },
  }),
  get('/api/v1/users/{id}/email', {
    operationId: 'getEmail',
    scope: null,
    summary: 'Get the e-mail address for messages about an account, such as password resets.',
    params: byId,
    answers: { 200: { description: 'The address; null if none is set.', body: AccountEmail } },
    problems: ['not-found', 'forbidden'],
    async handle({ params }, { access }) {
      return { status: 200, body: { email: await access.accountMails.email(params.id) } };
    },
  }),
  put('/api/v1/users/{id}/email', {
    operationId: 'setEmail',
    scope: null,
    summary: 'Set the e-mail address for messages about an account.',
    description:
      'For the caller’s own account, `currentPassword` is required: whoever receives these e-mails can reset the password.',
    params: byId,
    body: z
      .strictObject({ email: emailOf().nullable(), currentPassword: z.string().min(1).max(1000).optional() })
      .meta({ id: 'NewAccountEmail', examples: [{ email: 'anna@example.com' }] }),
    answers: { 204: { description: 'The address is set.' } },
    problems: ['not-found', 'forbidden', 'unavailable'],
    async handle({ params, body }, { access, sessionId }) {
      await access.accountMails.setEmail(params.id, body.email, body.currentPassword, sessionOf({ sessionId }));
      return { status: 204 };
    },
  }),
  post('/api/v1/users/{id}/invitation', {
    operationId: 'inviteUser',
    scope: null,
    summary: 'Invite the user of an account: send a link to choose a password.',
    description: 'The link is sent to the e-mail address of the account. It can be used once, within seven days.',
    params: byId,
    answers: { 204: { description: 'The e-mail is queued.' } },
    problems: ['not-found', 'forbidden', 'conflict'],
    async handle({ params }, { access }) {
      await access.accountMails.invite(params.id);
      return { status: 204 };
    },
  }),
];
