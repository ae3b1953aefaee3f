import { randomBytes } from 'node:crypto';
import { badField, customMatcher } from '@outrider/access';
import {
  ACCOUNT_RIGHTS,
  DEFAULT_RIGHTS,
  type GroupId,
  isoTime,
  SERVICES,
  type SessionId,
  type User,
  type UserId,
} from '@outrider/domain';
import type { Session } from '@outrider/registry';
import { z } from 'zod';
import { deviceOf } from '../../device.ts';
import {
  CUSTOM_EXAMPLE,
  CUSTOM_FIELDS_OUT,
  CUSTOM_FIELDS_PATCH,
  customAsked,
  customQuery,
  NEW_CUSTOM_FIELDS,
} from '../../fields/custom-fields.ts';
import { GROUP } from '../../fields/field-schemas.ts';
import {
  emailOf,
  id,
  idOut,
  line,
  listOf,
  pageAsked,
  pageReply,
  paging,
  searchAsked,
  searching,
  timeIn,
  timeOut,
} from '../../fields/fields.ts';
import { ResourceRoutes } from '../../resource-routes.ts';
import { callsOf, type Route, route, sessionOf } from '../../route.ts';

const { get, post, put, patch, remove } = callsOf('Users');

const role = z.enum(['operator', 'dealer', 'user']);

export const UserOut = z
  .strictObject({
    id: idOut,
    login: z.string(),
    name: z.string(),
    role,
    dealerId: idOut.nullable().meta({ description: 'Dealer that manages the account. Null: the operator manages it.' }),
    blocked: z.boolean(),
    apiAccess: z.boolean().meta({ description: 'Whether the account may use the API. Granted by operators only.' }),
    services: z.array(z.enum(SERVICES)).meta({
      description: 'Services that the account was granted. Operators and dealers have all of them by their role.',
    }),
    rights: z.array(z.enum(ACCOUNT_RIGHTS)).meta({
      description:
        'What a user may change. Operators and dealers have all rights by their role. Empty for a user: the account is read-only.',
    }),
    groupIds: z.array(idOut).meta({ description: 'Groups whose vehicles the user may see.' }),
    ...CUSTOM_FIELDS_OUT,
  })
  .meta({
    id: 'User',
    examples: [
      {
        id: '01961f3c-9c32-7e5a-9d3f-4b8c2e6a0f79',
        login: 'anna',
        name: 'Anna Ivanova',
        role: 'user',
        dealerId: null,
        blocked: false,
        apiAccess: true,
        services: ['video'],
        rights: ['edit-geofences', 'edit-notifications', 'share'],
        groupIds: ['01961f3c-8b21-7d4f-8c2e-3a7b1d5f9e68'],
        ...CUSTOM_EXAMPLE,
      },
    ],
  });

const login = line(100);
const name = line(200);
export const MIN_PASSWORD_CHARACTERS = 8;
export const password = z
  .string()
  .min(MIN_PASSWORD_CHARACTERS, `It must have ${MIN_PASSWORD_CHARACTERS} characters or more.`)
  .max(256)
  .meta({
    description:
      'It must not be one that attackers try first: a password from data breaches, a row of keys, repetitions, the login or the name.',
    examples: ['correct horse battery staple'],
  });
const groupIds = z.array(id<GroupId>()).max(10_000);
const services = z
  .array(z.enum(SERVICES))
  .max(SERVICES.length)
  .meta({ description: 'Granted by operators, and by dealers to their own users.' });
const rights = z
  .array(z.enum(ACCOUNT_RIGHTS))
  .max(ACCOUNT_RIGHTS.length)
  .meta({
    description:
      'What a user may change. Granted by operators, and by dealers to their own users. `edit-vehicles`: profiles and sensors of vehicles of their groups, and who drives them. ' +
      '`edit-geofences`: geofences of their own. `edit-notifications`: notification rules, message channels and report schedules. `share`: share links. Empty: the account is read-only.',
  });
const byId = z.object({ id: id<UserId>() });

const Expiry = z
  .strictObject({
    expiresAt: timeOut.nullable().meta({ description: 'Time at which the account expires. Null: never.' }),
  })
  .meta({ id: 'Expiry', examples: [{ expiresAt: '2027-01-15T12:00:00.000Z' }] });

const RETENTION_ABOUT =
  'Number of days (UTC) after which positions, events, videos and notifications of all vehicles of the fleet are erased for good, once a day. Null: the fleet sets no limit. If the fleet and groups of a vehicle have different limits, the shortest applies. Nothing is kept longer than the service keeps it.';
const FleetRetention = z
  .strictObject({ retentionDays: GROUP.set.retentionDays.meta({ description: RETENTION_ABOUT, examples: [90] }) })
  .meta({ id: 'FleetRetention', examples: [{ retentionDays: 90 }] });

export const SESSION_EXAMPLE = {
  id: '01961f3c-ad43-7f6b-8e4a-5c9d3f7b1a8a',
  createdAt: '2026-01-15T08:00:00.000Z',
  lastUsedAt: '2026-01-15T12:00:00.000Z',
  expiresAt: '2026-02-14T08:00:00.000Z',
  address: '203.0.113.5',
  userAgent: 'curl/8.5.0',
  device: 'curl/8.5.0',
  current: true,
};
export const SessionOut = z
  .strictObject({
    id: idOut,
    createdAt: timeOut,
    lastUsedAt: timeOut.meta({
      description:
        'Time of the login or the last refresh. For a console session, time of the last use, accurate to five minutes.',
    }),
    expiresAt: timeOut,
    address: z.string().meta({ description: 'IP address of the login, or of the last use or refresh.' }),
    userAgent: z.string().meta({ description: '`service` of the login; if the login named none, its `User-Agent`.' }),
    device: z.string().meta({
      description:
        'Readable browser and operating system of the `User-Agent`, such as "Chrome, Windows". For other clients, the first word, such as "curl/8.5.0", or the name given as `service`.',
    }),
    current: z.boolean().meta({ description: 'Whether it is the session of this call.' }),
  })
  .meta({
    id: 'Session',
    examples: [SESSION_EXAMPLE],
  });

export function userBody({ kind: _, version: __, ...user }: User): z.output<typeof UserOut> {
  const { services, rights, groupIds, customAttributes, ...rest } = user;
  return {
    ...rest,
    services: [...services],
    rights: [...rights],
    groupIds: [...groupIds],
    customAttributes: { ...customAttributes },
  };
}

/** @param current the session of the call */
export function sessionBody(session: Session, current: SessionId | null): z.output<typeof SessionOut> {
  return {
    id: session.id,
    createdAt: isoTime(session.createdAtMs),
    lastUsedAt: isoTime(session.lastUsedAtMs),
    expiresAt: isoTime(session.expiresAtMs),
    address: session.address,
    userAgent: session.userAgent,
    device: deviceOf(session.userAgent),
    current: session.id === current,
  };
}

const users = new ResourceRoutes({
  group: 'Users',
  path: '/api/v1/users',
  operations: ['User', 'Users'],
  noun: 'account',
  params: byId,
  body: UserOut,
  show: userBody,
  entityOf: (user: User) => user,
});

export const userRoutes: Route[] = [
  get('/api/v1/me', {
    operationId: 'getMe',
    summary: 'Get the caller’s own account.',
    answers: { 200: users.one },
    async handle(_, context) {
      const { access, caller } = context;
      return users.reply(200, await access.users.get(caller.id), context);
    },
  }),
  patch('/api/v1/me', {
    operationId: 'changeMe',
    summary: 'Change the name of the caller’s own account.',
    body: z
      .strictObject({ name })
      .partial()
      .meta({ id: 'MePatch', examples: [{ name: 'Anna Ivanova' }] }),
    answers: { 200: users.one },
    async handle({ body }, context) {
      const { access, caller } = context;
      return users.reply(
        200,
        body.name === undefined ? await access.users.get(caller.id) : await access.users.changeOwnName(body.name),
        context,
      );
    },
  }),
  put('/api/v1/me/password', {
    operationId: 'changeMyPassword',
    scope: null,
    summary: 'Change the caller’s own password. All other sessions of the account end.',
    body: z.strictObject({ currentPassword: z.string().min(1).max(1000), password }).meta({
      id: 'PasswordChange',
      examples: [{ currentPassword: 'correct horse battery staple', password: 'new and unknown' }],
    }),
    answers: { 204: { description: 'The password is changed.' } },
    problems: ['unavailable'],
    async handle({ body }, { access, sessionId }) {
      await access.users.changeOwnPassword(body.currentPassword, body.password, sessionOf({ sessionId }));
      return { status: 204 };
    },
  }),
  users.list({
    summary: 'List accounts that the caller may see.',
    query: z.object({
      ...paging,
      ...searching('login', 'name', 'externalId'),
      ...customQuery,
      role: role.optional().meta({ description: 'Return only accounts with this role.' }),
      blocked: z
        .enum(['true', 'false'])
        .optional()
        .meta({ description: '`true`: return only blocked accounts. `false`: only accounts that are not blocked.' }),
    }),
    async page(query, { access }) {
      const { role, blocked } = query;
      const isWanted = customMatcher(customAsked(query));
      const isFiltered = role !== undefined || blocked !== undefined || isWanted !== null;
      const search = searchAsked({ ...query, sort: query.sort ?? (isFiltered ? 'login' : undefined) });
      const matches = (user: User) =>
        (role === undefined || user.role === role) &&
        (blocked === undefined || String(user.blocked) === blocked) &&
        isWanted?.(user) !== false;
      return search ? access.users.find(search, matches) : access.users.page(pageAsked(query));
    },
  }),
  users.add({
    summary: 'Add an account.',
    description:
      'A new user gets a group of their own, named after the login. A dealer can add its own users. Only operators can add ' +
      'operators and dealers, and grant the right to use the API.',
    body: z
      .strictObject({
        login,
        name,
        password: password.optional(),
        email: emailOf()
          .optional()
          .meta({
            description:
              'E-mail address for messages about the account. Without `password`, a link to choose one is sent to it.',
            examples: ['anna@example.com'],
          }),
        role: role.default('user'),
        dealerId: id<UserId>().nullable().optional().meta({
          description:
            'Dealer that manages the account; set by operators. For accounts that a dealer adds, it is that dealer.',
        }),
        apiAccess: z.boolean().default(false),
        services: services.default([]),
        rights: rights.default([...DEFAULT_RIGHTS]),
        groupIds: groupIds.default([]),
        ...NEW_CUSTOM_FIELDS,
      })
      .meta({
        id: 'NewUser',
        examples: [{ login: 'anna', name: 'Anna Ivanova', password: 'correct horse battery staple' }],
      }),
    problems: ['forbidden', 'conflict', 'unavailable'],
    async add({ password, email, ...fields }, { access, sessionId }) {
      if (password === undefined && email === undefined)
        throw badField('/password', 'Give a password, or an `email` to which a link to choose one is sent.');
      // Addresses are set by people: an API key is refused before the account is created.
      const session = email === undefined ? null : sessionOf({ sessionId });
      // Nobody knows the random password: the user chooses another one with the link.
      const user = await access.users.add(fields, password ?? randomBytes(32).toString('base64url'));
      if (email !== undefined && session !== null) {
        await access.accountMails.setEmail(user.id, email, undefined, session);
        if (password === undefined) await access.accountMails.invite(user.id);
      }
      return user;
    },
  }),
  users.get({ get: ({ id }, { access }) => access.users.get(id) }),
  users.change({
    summary: 'Change an account (JSON merge patch).',
    body: z
      .strictObject({
        login,
        name,
        dealerId: id<UserId>().nullable(),
        services,
        rights,
        groupIds,
        ...CUSTOM_FIELDS_PATCH,
      })
      .partial()
      .meta({ id: 'UserPatch', examples: [{ name: 'Anna Petrova' }] }),
    problems: ['forbidden', 'conflict', 'quota-exceeded'],
    change: ({ id }, body, { access, ifMatch }) => access.users.change(id, ifMatch, body),
  }),
  users.remove({
    summary: 'Delete an account with its sessions and geofences. Vehicles remain.',
    problems: ['forbidden', 'conflict'],
    remove: ({ id }, { access, ifMatch }) => access.users.remove(id, ifMatch),
  }),
  ...(
    [
      [
        'block',
        'Block an account, and with a dealer its users. Their tokens, sessions and live connections end at once.',
        true,
      ],
      [
        'unblock',
        'Unblock an account, and with a dealer its users. A user stays blocked while the dealer is blocked.',
        false,
      ],
    ] as const
  ).map(([verb, summary, blocked]) =>
    post(`/api/v1/users/{id}/${verb}`, {
      operationId: `${verb}User`,
      summary,
      params: byId,
      answers: { 200: users.one },
      problems: ['not-found', 'forbidden', 'conflict'],
      async handle({ params }, context) {
        const { access } = context;
        return users.reply(200, await access.users.setBlocked(params.id, blocked), context);
      },
    }),
  ),
  get('/api/v1/users/{id}/expiry', {
    operationId: 'getExpiry',
    summary: 'Get the time at which an account expires.',
    params: byId,
    answers: { 200: { description: 'The time at which the account expires; null: never.', body: Expiry } },
    problems: ['not-found'],
    async handle({ params }, { access }) {
      const expiresAtMs = await access.users.expiryOf(params.id);
      return { status: 200, body: { expiresAt: expiresAtMs === null ? null : isoTime(expiresAtMs) } };
    },
  }),
  put('/api/v1/users/{id}/expiry', {
    operationId: 'setExpiry',
    summary: 'Set the time at which an account expires.',
    description:
      'From then on, the account is blocked, and with a dealer its users; tokens, keys, sessions and live connections are refused. A later time, or null, unblocks an expired account, unless it is also blocked for another reason.',
    params: byId,
    body: z
      .strictObject({
        expiresAt: timeIn.nullable().meta({ description: 'Time at which the account expires. Null: never.' }),
      })
      .meta({ id: 'NewExpiry', examples: [{ expiresAt: '2027-01-15T12:00:00.000Z' }] }),
    answers: { 204: { description: 'The expiry is set.' } },
    problems: ['not-found', 'forbidden', 'conflict'],
    async handle({ params, body }, { access }) {
      await access.users.setExpiry(params.id, body.expiresAt);
      return { status: 204 };
    },
  }),
  route({
    method: 'get',
    path: '/api/v1/users/{id}/retention',
    group: 'Users',
    operationId: 'getFleetRetention',
    summary: 'Get the retention of histories for the fleet of an account.',
    description:
      'The fleet of a dealer is its vehicles. The fleet of an operator is the vehicles without a dealer. For a user, it is the fleet of the dealer or operator who manages the account.',
    params: byId,
    answers: { 200: { description: 'The retention of the fleet.', body: FleetRetention } },
    problems: ['not-found'],
    async handle({ params }, { access }) {
      return { status: 200, body: { retentionDays: await access.users.fleetRetentionOf(params.id) } };
    },
  }),
  route({
    method: 'put',
    path: '/api/v1/users/{id}/retention',
    group: 'Users',
    operationId: 'setFleetRetention',
    summary: 'Set the retention of histories for the fleet of a dealer or of the operator.',
    description:
      'A dealer can set it for its own fleet, operators for every fleet. All operators share one fleet, so a value set at one of them applies to all. A longer retention does not restore what was erased.',
    params: byId,
    body: FleetRetention,
    answers: { 204: { description: 'The retention applies from the next daily erasure on.' } },
    problems: ['not-found', 'forbidden', 'conflict'],
    async handle({ params, body }, { access }) {
      await access.users.setFleetRetention(params.id, body.retentionDays);
      return { status: 204 };
    },
  }),
  ...(
    [
      ['put', 'grantApiAccess', 'Grant the right to use the API.', true],
      ['delete', 'withdrawApiAccess', 'Withdraw the right to use the API.', false],
    ] as const
  ).map(([method, operationId, summary, apiAccess]) =>
    route({
      method,
      path: '/api/v1/users/{id}/api-access',
      group: 'Users',
      operationId,
      summary,
      description: 'For operators only.',
      params: byId,
      answers: { 200: users.one },
      problems: ['not-found', 'forbidden', 'conflict'],
      async handle({ params }, context) {
        const { access } = context;
        return users.reply(200, await access.users.setApiAccess(params.id, apiAccess), context);
      },
    }),
  ),
  put('/api/v1/users/{id}/password', {
    operationId: 'setPassword',
    scope: null,
    summary: 'Set another password for an account. All its sessions end.',
    description:
      'For the caller’s own account, it is the same as `PUT /api/v1/me/password`: `currentPassword` is required, and the session of the call remains.',
    params: byId,
    body: z
      .strictObject({
        password,
        currentPassword: z
          .string()
          .min(1)
          .max(1000)
          .optional()
          .meta({
            description: 'Required for the caller’s own account, and refused for any other.',
            examples: ['correct horse battery staple'],
          }),
      })
      .meta({ id: 'NewPassword', examples: [{ password: 'new and unknown' }] }),
    answers: { 204: { description: 'The password is changed.' } },
    problems: ['not-found', 'forbidden', 'unavailable'],
    async handle({ params, body }, { access, sessionId }) {
      await access.users.setPassword(params.id, body.password, body.currentPassword, sessionOf({ sessionId }));
      return { status: 204 };
    },
  }),
  get('/api/v1/users/{id}/sessions', {
    operationId: 'listSessions',
    scope: null,
    summary: 'List the sessions of an account, the last used first.',
    params: byId,
    answers: { 200: { description: 'All sessions that have not ended.', body: listOf(SessionOut) } },
    problems: ['not-found', 'forbidden'],
    async handle({ params }, { access, sessionId }) {
      const items = await access.users.sessionsOf(params.id);
      return pageReply({ items, next: null }, (session) => sessionBody(session, sessionId));
    },
  }),
  remove('/api/v1/users/{id}/sessions', {
    operationId: 'endSessions',
    scope: null,
    summary: 'End all sessions of an account except the session of the call.',
    params: byId,
    answers: { 204: { description: 'The sessions are ended.' } },
    problems: ['not-found', 'forbidden'],
    async handle({ params }, { access, sessionId }) {
      await access.users.endSessions(params.id, sessionOf({ sessionId }));
      return { status: 204 };
    },
  }),
  remove('/api/v1/users/{id}/sessions/{sessionId}', {
    operationId: 'endSession',
    scope: null,
    summary: 'End a session.',
    params: z.object({ id: id<UserId>(), sessionId: id<SessionId>() }),
    answers: { 204: { description: 'The session is ended.' } },
    problems: ['not-found', 'forbidden'],
    async handle({ params }, { access }) {
      await access.users.endSession(params.id, params.sessionId);
      return { status: 204 };
    },
  }),
];
