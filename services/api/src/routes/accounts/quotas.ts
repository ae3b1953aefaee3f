import { type QuotaPatch, quotasBody } from '@outrider/access';
import { DEFAULT_QUOTAS, kindsOf, type QuotaScope, type UserId } from '@outrider/domain';
import { z } from 'zod';
import { id } from '../../fields/fields.ts';
import { callsOf, type Route } from '../../route.ts';

const { get, patch } = callsOf('Users');

const use = z
  .strictObject({
    used: z.int(),
    limit: z.int(),
    isSet: z.boolean().meta({ description: 'True: set for this account. False: the default of the service.' }),
  })
  .meta({ id: 'QuotaUse' });
const uses = (scope: QuotaScope) => z.strictObject(Object.fromEntries(kindsOf(scope).map((kind) => [kind, use])));
const limit = z.int().min(0).nullable().meta({ description: 'Null: the default of the service.' });
const limits = (scope: QuotaScope) =>
  z.strictObject(Object.fromEntries(kindsOf(scope).map((kind) => [kind, limit]))).partial();

const exampleUses = Object.fromEntries(
  Object.entries(DEFAULT_QUOTAS.account).map(([kind, most]) => [kind, { used: 0, limit: most, isSet: false }]),
);
const QuotasOut = z
  .strictObject({
    account: uses('account').meta({ description: 'What the account owns.' }),
    dealer: uses('dealer')
      .nullable()
      .meta({ description: 'What a dealer owns with its accounts and vehicles. Null: the account is no dealer.' }),
  })
  .meta({ id: 'Quotas', examples: [{ account: exampleUses, dealer: null }] as never });

const quotas = { description: 'Limits, and what is used of each.', body: QuotasOut };
const byId = z.object({ id: id<UserId>() });

export const quotaRoutes: Route[] = [
  get('/api/v1/me/quotas', {
    operationId: 'getMyQuotas',
    summary: 'What the account may use, and what it uses.',
    description: 'A write beyond a quota is refused as `quota-exceeded`, with the quota, its limit and what is used.',
    answers: { 200: quotas },
    async handle(_, { access, caller }) {
      return { status: 200, body: quotasBody(await access.users.quotasOf(caller.id)) };
    },
  }),
  get('/api/v1/users/{id}/quotas', {
    operationId: 'getQuotas',
    summary: 'What an account may use, and what it uses.',
    params: byId,
    answers: { 200: quotas },
    problems: ['not-found'],
    async handle({ params }, { access }) {
      return { status: 200, body: quotasBody(await access.users.quotasOf(params.id)) };
    },
  }),
  patch('/api/v1/users/{id}/quotas', {
    operationId: 'setQuotas',
    summary: 'Set limits of an account (JSON merge patch).',
    description:
      'Operators set all of them; a dealer sets those of its users, none above its own. What exists beyond a lowered ' +
      'limit stays, and nothing can be added to it.',
    params: byId,
    body: z
      .strictObject({ account: limits('account'), dealer: limits('dealer') })
      .partial()
      .meta({ id: 'QuotasPatch', examples: [{ account: { geofences: 500, reportSchedules: null } }] as never }),
    answers: { 200: quotas },
    problems: ['not-found', 'forbidden'],
    async handle({ params, body }, { access }) {
      return { status: 200, body: quotasBody(await access.users.setQuotas(params.id, body as QuotaPatch)) };
    },
  }),
];
