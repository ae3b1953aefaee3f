import { notFound, Problem } from '@outrider/access';
import { OpenIdError } from '@outrider/auth';
import { z } from 'zod';
import { type Route, route, sessionOf } from '../../route.ts';
import type { OpenIdSignIn } from '../../sign-in/openid-pages.ts';
import { currentPassword } from './second-factor.ts';

/** @throws {Problem} when no provider is configured */
function required(openId: OpenIdSignIn | null): OpenIdSignIn {
  if (openId === null) throw notFound();
  return openId;
}

export const externalSignInRoutes: Route[] = [
  route({
    method: 'get',
    path: '/api/v1/me/openid',
    group: 'Users',
    operationId: 'getMyOpenId',
    scope: null,
    summary: 'Whether one can sign in to the own account by OpenID Connect.',
    answers: {
      200: {
        description: 'The provider, and whether it is linked.',
        body: z
          .strictObject({
            name: z.string().nullable().meta({ description: 'Of the provider; null: none is set.' }),
            linked: z.boolean(),
          })
          .meta({ id: 'OpenIdLink', examples: [{ name: 'Company account', linked: true }] }),
      },
    },
    problems: ['forbidden'],
    async handle(_, { access, openId }) {
      const signIn = access.externalSignIn;
      const linked = openId !== null && (await signIn.isLinked(openId.issuer));
      return { status: 200, body: { name: openId?.name ?? null, linked } };
    },
  }),
  route({
    method: 'post',
    path: '/api/v1/me/openid/link',
    group: 'Users',
    operationId: 'linkMyOpenId',
    scope: null,
    summary: 'Begin to link the own account to who signs in at the provider.',
    description:
      'The browser that asked goes to `url`, and comes back to the console. From then on it signs in to this account by the provider, in place of an earlier link. The account keeps what it was granted here: claims are for accounts that the provider made.',
    body: currentPassword,
    answers: {
      200: {
        description: 'The address that the browser goes to.',
        body: z
          .strictObject({ url: z.string() })
          .meta({ id: 'OpenIdStart', examples: [{ url: 'https://id.example.com/authorize?client_id=outrider' }] }),
        headers: { 'Set-Cookie': 'What the browser keeps until it comes back.' },
      },
    },
    problems: ['forbidden', 'not-found', 'unavailable'],
    async handle({ body }, { access, caller, sessionId, arrival, openId }) {
      const session = sessionOf({ sessionId });
      const provider = required(openId);
      await access.externalSignIn.requirePassword(body.currentPassword, session);
      try {
        const { url, cookie } = await provider.start(arrival, { userId: caller.id, sessionId: session });
        return { status: 200, body: { url }, headers: { 'set-cookie': cookie, 'cache-control': 'no-store' } };
      } catch (error) {
        if (error instanceof OpenIdError) throw new Problem('unavailable', 'The provider can not be reached.');
        throw error;
      }
    },
  }),
  route({
    method: 'post',
    path: '/api/v1/me/openid/unlink',
    group: 'Users',
    operationId: 'unlinkMyOpenId',
    scope: null,
    summary: 'Have nobody sign in to the own account by OpenID Connect.',
    body: currentPassword,
    answers: { 204: { description: 'The link is removed: the password signs in.' } },
    problems: ['forbidden', 'not-found', 'unavailable'],
    async handle({ body }, { access, sessionId, openId }) {
      const session = sessionOf({ sessionId });
      await access.externalSignIn.unlink(required(openId).issuer, body.currentPassword, session);
      return { status: 204 };
    },
  }),
];
