import { MAX_API_KEY_DAYS, MAX_GROUPS_OF_API_KEY } from '@outrider/access';
import { API_KEY_SCOPES, type ApiKeyId, type ApiKeyScope, type GroupId, isoTime, type UserId } from '@outrider/domain';
import { type ApiKey, MAX_API_KEYS_PER_USER } from '@outrider/registry';
import { z } from 'zod';
import { id, idOut, line, pageAsked, paging, timeIn, timeOut } from '../../fields/fields.ts';
import { ENTITY_HEADERS, entityHeaders, ResourceRoutes } from '../../resource-routes.ts';
import { callsOf, type Route } from '../../route.ts';

const { post } = callsOf('Users');

const scope = z.enum(API_KEY_SCOPES);
const SCOPES_TEXT =
  '`read`: calls that change nothing, and the live stream. `write`: calls that change something. `commands`: commands ' +
  'to terminals. `video`: calls of the video service. No scope includes another.';
const GROUPS_TEXT =
  'Limits the key to the vehicles of these groups and data derived from them, as if the account were a user with these ' +
  'groups only. Null: the key may access all that the account may see.';
const EXPIRY_TEXT = `The key is not accepted after this time. At most ${MAX_API_KEY_DAYS} days from now. Null: the key does not expire.`;

const EXAMPLE = {
  name: 'Dispatch system',
  scopes: ['read'] as ApiKeyScope[],
  groupIds: ['01961f3c-8b21-7d4f-8c2e-3a7b1d5f9e68'],
  expiresAt: '2027-01-15T12:00:00.000Z',
};
const KEY_EXAMPLE = {
  id: '01961f3d-6eb2-7c3d-8e4f-7a8b9c0d1e2f',
  userId: '01961f3c-9c32-7e5a-9d3f-4b8c2e6a0f79',
  ...EXAMPLE,
  createdAt: '2026-01-15T12:00:00.000Z',
  lastUsedAt: '2026-01-15T12:05:00.000Z',
  lastUsedAddress: '203.0.113.5',
};
const fields = {
  id: idOut,
  userId: idOut.meta({ description: 'Account that owns the key. The key never has more rights than this account.' }),
  name: z.string(),
  scopes: z.array(scope).meta({ description: SCOPES_TEXT }),
  groupIds: z
    .array(idOut)
    .nullable()
    .meta({
      description: `${GROUPS_TEXT} Groups that were deleted, or that the caller may no longer see, are left out.`,
    }),
  createdAt: timeOut,
  expiresAt: timeOut
    .nullable()
    .meta({ description: 'The key is not accepted after this time. Null: the key does not expire.' }),
  lastUsedAt: timeOut
    .nullable()
    .meta({ description: 'Time of the last use, accurate to five minutes. Null: the key was never used.' }),
  lastUsedAddress: z
    .string()
    .nullable()
    .meta({ description: 'IP address of the last use. Null: the key was never used.' }),
};
const KeyOut = z.strictObject(fields).meta({ id: 'ApiKey', examples: [KEY_EXAMPLE] });
const NewKeyOut = z
  .strictObject({
    ...fields,
    key: z
      .string()
      .nullable()
      .meta({
        description:
          'The key, which the client sends as `Authorization: Bearer <key>`. Only this response contains it. ' +
          'Null in the response to a request that was repeated with its `Idempotency-Key`.',
      }),
  })
  .meta({
    id: 'CreatedApiKey',
    examples: [
      {
        ...KEY_EXAMPLE,
        lastUsedAt: null,
        lastUsedAddress: null,
        key: 'outrider_01961f3d6eb27c3d8e4f7a8b9c0d1e2f_Jm3vXQ0c5Yl8bTz1oWkR9wJm3vXQ0c5Yl8bTz1oWkR9',
      },
    ],
  });

const name = line(100);
const scopes = z
  .array(scope)
  .min(1)
  .max(API_KEY_SCOPES.length)
  .refine((list) => new Set(list).size === list.length, 'A scope is named twice.')
  .meta({ description: SCOPES_TEXT });
const groupIds = z
  .array(id<GroupId>())
  .min(1, 'Name a group, or give null for all.')
  .max(MAX_GROUPS_OF_API_KEY)
  .refine((ids) => new Set(ids).size === ids.length, 'A group is named twice.')
  .nullable()
  .meta({ description: GROUPS_TEXT });
const expiresAt = timeIn.nullable().meta({ description: EXPIRY_TEXT });

function keyBody(key: ApiKey): z.output<typeof KeyOut> {
  return {
    id: key.id,
    userId: key.userId,
    name: key.name,
    scopes: [...key.scopes],
    groupIds: key.groupIds && [...key.groupIds],
    createdAt: isoTime(key.createdAtMs),
    expiresAt: key.expiresAtMs === null ? null : isoTime(key.expiresAtMs),
    lastUsedAt: key.lastUsedAtMs === null ? null : isoTime(key.lastUsedAtMs),
    lastUsedAddress: key.lastUsedAddress,
  };
}

const byId = z.object({ id: id<ApiKeyId>() });
const keys = new ResourceRoutes({
  group: 'Users',
  path: '/api/v1/api-keys',
  operations: ['ApiKey', 'ApiKeys'],
  noun: 'API key',
  params: byId,
  body: KeyOut,
  show: keyBody,
  entityOf: (key: ApiKey) => key,
  scope: null,
});

export const apiKeyRoutes: Route[] = [
  keys.list({
    summary: 'List API keys of the caller’s own account, in the order of their creation.',
    description:
      'Expired and revoked keys are not listed. Operators can list the keys of another account with `userId`.',
    query: z.object({
      ...paging,
      userId: id<UserId>().optional().meta({
        description: 'Account whose keys are listed. Default: the caller’s. Only operators may name another account.',
      }),
    }),
    problems: ['not-found', 'forbidden'],
    page: (query, { access }) => access.apiKeys.list(query.userId ?? null, pageAsked(query)),
  }),
  post('/api/v1/api-keys', {
    operationId: 'addApiKey',
    scope: null,
    summary: 'Create an API key, with which programs act for the account.',
    description:
      'Programs send the key as `Authorization: Bearer <key>` or `Authorization: JWT <key>`, in place of a JWT. A call is ' +
      'allowed if both a scope of the key and the current rights of the account permit it. The key ends at `expiresAt`, when ' +
      'it is revoked, and when the account is deleted. It is refused while the account is blocked or has no right to use the ' +
      'API. A key cannot create keys, or change passwords or sessions. A key that is limited to groups can read notification ' +
      'rules, report schedules, message channels and forwarding destinations, but not change them. ' +
      `An account may have at most ${MAX_API_KEYS_PER_USER} keys.`,
    body: z
      .strictObject({
        name,
        scopes,
        groupIds: groupIds.default(null),
        expiresAt: expiresAt.default(null),
      })
      .meta({ id: 'NewApiKey', examples: [EXAMPLE as never] }),
    answers: {
      201: {
        description: 'The new API key, with its secret, which is not shown again.',
        body: NewKeyOut,
        headers: { ...ENTITY_HEADERS, Location: 'URL of the key.' },
      },
    },
    problems: ['no-api-access', 'conflict'],
    async handle({ body }, { access, nowMs }) {
      const { expiresAt: expiresAtMs, ...wish } = body;
      const { key, text } = await access.apiKeys.add({ ...wish, expiresAtMs }, nowMs);
      const shown = keyBody(key);
      return {
        status: 201,
        body: { ...shown, key: text },
        // Only the hash of a key is stored.
        keptBody: { ...shown, key: null },
        headers: { ...entityHeaders(201, '/api/v1/api-keys', key), 'cache-control': 'no-store' },
      };
    },
  }),
  keys.get({ summary: 'Get an API key, without its secret.', get: ({ id }, { access }) => access.apiKeys.get(id) }),
  keys.change({
    summary: 'Change the name, scopes, groups or expiry of an API key; its secret stays the same.',
    description:
      'Only the account that owns the key can change it. The change applies from the next call on; live connections of the key are closed.',
    body: z
      .strictObject({
        name: name.optional(),
        scopes: scopes.optional(),
        groupIds: groupIds.optional(),
        expiresAt: expiresAt.optional(),
      })
      .meta({ id: 'ApiKeyPatch', examples: [{ name: 'Dispatch system, read only', scopes: ['read'] }] }),
    problems: ['forbidden'],
    change({ id }, body, { access, ifMatch, nowMs }) {
      const { expiresAt: expiresAtMs, ...rest } = body;
      const patch = { ...rest, ...(expiresAtMs === undefined ? {} : { expiresAtMs }) };
      const defined = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined));
      return access.apiKeys.change(id, ifMatch, defined, nowMs);
    },
  }),
  keys.remove({
    summary: 'Revoke an API key.',
    description:
      'For the account that owns the key and for operators. The key is refused at once; other instances of the service refuse it within 5 seconds.',
    remove: ({ id }, { access, ifMatch }) => access.apiKeys.revoke(id, ifMatch),
  }),
];
