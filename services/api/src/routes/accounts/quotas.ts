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
    isSet: z
      .boolean()
      .meta({ description: 'True: the limit is set for this account. False: it is the default of the service.' }),
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
    account: uses('account').meta({ description: 'Quotas of what the account itself owns.' }),
    dealer: uses('dealer').nullable().meta({
      description:
        'Quotas of what a dealer owns together with its accounts and vehicles. Null: the account is not a dealer.',
    }),
  })
  .meta({ id: 'Quotas', examples: [{ account: exampleUses, dealer: null }] as never });

const quotas = { description: 'All limits, with the amount used of each.', body: QuotasOut };
const byId = z.object({ id: id<UserId>() });

export const quotaRoutes: Route[] = [
  get('/api/v1/me/quotas', {
    operationId: 'getMyQuotas',
    summary: 'Get the quotas of the caller’s own account, and their current use.',
    description:
      'A write that would exceed a quota is refused as `quota-exceeded`, with the quota, its limit and the amount used.',
    answers: { 200: quotas },
    async handle(_, { access, caller }) {
      return { status: 200, body: quotasBody(await access.users.quotasOf(caller.id)) };
    },
  }),
  get('/api/v1/users/{id}/quotas', {
    operationId: 'getQuotas',
    summary: 'Get the quotas of an account, and their current use.',
    params: byId,
    answers: { 200: quotas },
    problems: ['not-found'],
    async handle({ params }, { access }) {
      return { status: 200, body: quotasBody(await access.users.quotasOf(params.id)) };
    },
  }),
  patch('/api/v1/users/{id}/quotas', {
    operationId: 'setQuotas',
    summary: 'Set quotas of an account (JSON merge patch).',
    description:
      'Operators can set all quotas. A dealer can set those of its users, none above its own. What exists beyond a lowered ' +
      'limit remains, but nothing can be added.',
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
