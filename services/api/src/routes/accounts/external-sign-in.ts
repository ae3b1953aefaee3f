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
    summary: 'Get the OpenID Connect provider, and whether the caller’s own account is linked to it.',
    answers: {
      200: {
        description: 'The provider, and whether it is linked.',
        body: z
          .strictObject({
            name: z.string().nullable().meta({ description: 'Name of the provider. Null: no provider is configured.' }),
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
    summary: 'Begin to link the caller’s own account to an identity at the OpenID Connect provider.',
    description:
      'The browser that made the call opens `url`; the provider sends it back to the console. From then on, that identity signs in to this account; an earlier link is replaced. The account keeps the rights that it was granted here: claims apply only to accounts that were created by a sign-in at the provider.',
    body: currentPassword,
    answers: {
      200: {
        description: 'The URL that the browser opens.',
        body: z
          .strictObject({ url: z.string() })
          .meta({ id: 'OpenIdStart', examples: [{ url: 'https://id.example.com/authorize?client_id=outrider' }] }),
        headers: { 'Set-Cookie': 'State of the sign-in, which the browser sends when it comes back.' },
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
        if (error instanceof OpenIdError) throw new Problem('unavailable', 'The provider is not reachable.');
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
    summary: 'Remove the link of the caller’s own account to the OpenID Connect provider.',
    body: currentPassword,
    answers: { 204: { description: 'The link is removed. The account signs in with its password.' } },
    problems: ['forbidden', 'not-found', 'unavailable'],
    async handle({ body }, { access, sessionId, openId }) {
      const session = sessionOf({ sessionId });
      await access.externalSignIn.unlink(required(openId).issuer, body.currentPassword, session);
      return { status: 204 };
    },
  }),
];
