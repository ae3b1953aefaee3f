import { type GroupId, isoTime, SERVICES, type SessionId, type User, type UserId } from '@outrider/domain';
import type { Session } from '@outrider/registry';
import { z } from 'zod';
import { id, idOut, line, listOf, pageAsked, pageReply, paging, searchAsked, searching, timeOut } from '../fields.ts';
import { etagOf } from '../input.ts';
import { type Reply, type Route, route } from '../route.ts';

const role = z.enum(['operator', 'dealer', 'user']);

export const UserOut = z
  .strictObject({
    id: idOut,
    login: z.string(),
    name: z.string(),
    role,
    dealerId: idOut.nullable().meta({ description: 'The dealer that keeps the account; null: the operator does.' }),
    blocked: z.boolean(),
    apiAccess: z.boolean().meta({ description: 'May use the API; granted by operators alone.' }),
    services: z
      .array(z.enum(SERVICES))
      .meta({ description: 'Services that the account was granted; operators and dealers have all by their role.' }),
    groupIds: z.array(idOut).meta({ description: 'Groups whose vehicles the user may see.' }),
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
        groupIds: ['01961f3c-8b21-7d4f-8c2e-3a7b1d5f9e68'],
      },
    ],
  });

const login = line(100);
const name = line(200);
const password = z
  .string()
  .min(8, 'It must have 8 characters or more.')
  .max(256)
  .meta({
    description:
      'Not one that attackers try first: those of breaches, rows of keys, repetitions, the login or the name.',
    examples: ['correct horse battery staple'],
  });
const groupIds = z.array(id<GroupId>()).max(10_000);
const services = z
  .array(z.enum(SERVICES))
  .max(SERVICES.length)
  .meta({ description: 'Granted by operators, and by dealers to their own users.' });
const byId = z.object({ id: id<UserId>() });

const SessionOut = z
  .strictObject({
    id: idOut,
    createdAt: timeOut,
    lastUsedAt: timeOut.meta({ description: 'When it last gave a token.' }),
    expiresAt: timeOut,
    address: z.string().meta({ description: 'From where it was last used.' }),
    userAgent: z.string(),
    current: z.boolean().meta({ description: 'Is it the session of this call?' }),
  })
  .meta({
    id: 'Session',
    examples: [
      {
        id: '01961f3c-ad43-7f6b-8e4a-5c9d3f7b1a8a',
        createdAt: '2026-01-15T08:00:00.000Z',
        lastUsedAt: '2026-01-15T12:00:00.000Z',
        expiresAt: '2026-02-14T08:00:00.000Z',
        address: '203.0.113.5',
        userAgent: 'curl/8.5.0',
        current: true,
      },
    ],
  });

export function userBody({ kind: _, version: __, ...user }: User): z.output<typeof UserOut> {
  return { ...user, services: [...user.services], groupIds: [...user.groupIds] };
}

function reply(status: number, user: User): Reply {
  return {
    status,
    body: userBody(user),
    headers: { etag: etagOf(user.version), ...(status === 201 ? { location: `/api/v1/users/${user.id}` } : {}) },
  };
}

const oneUser = { description: 'The account.', body: UserOut, headers: { ETag: 'Version, for `If-Match`.' } };

export const userRoutes: Route[] = [
  route({
    method: 'get',
    path: '/api/v1/me',
    group: 'Users',
    operationId: 'getMe',
    summary: 'The account that calls.',
    answers: { 200: oneUser },
    async handle(_, { access, caller }) {
      return reply(200, await access.user(caller.id));
    },
  }),
  route({
    method: 'patch',
    path: '/api/v1/me',
    group: 'Users',
    operationId: 'changeMe',
    summary: 'Change what everyone may change of their own account.',
    body: z
      .strictObject({ name })
      .partial()
      .meta({ id: 'MePatch', examples: [{ name: 'Anna Ivanova' }] }),
    answers: { 200: oneUser },
    async handle({ body }, { access, caller }) {
      return reply(200, body.name === undefined ? await access.user(caller.id) : await access.changeOwnName(body.name));
    },
  }),
  route({
    method: 'put',
    path: '/api/v1/me/password',
    group: 'Users',
    operationId: 'changeMyPassword',
    summary: 'Change the own password; every other session of the account ends.',
    body: z.strictObject({ currentPassword: z.string().min(1).max(1000), password }).meta({
      id: 'PasswordChange',
      examples: [{ currentPassword: 'correct horse battery staple', password: 'new and unknown' }],
    }),
    answers: { 204: { description: 'Changed.' } },
    problems: ['unavailable'],
    async handle({ body }, { access, sessionId }) {
      await access.changeOwnPassword(body.currentPassword, body.password, sessionId);
      return { status: 204 };
    },
  }),
  route({
    method: 'get',
    path: '/api/v1/users',
    group: 'Users',
    operationId: 'listUsers',
    summary: 'Accounts that the caller may see.',
    query: z.object({ ...paging, ...searching('login', 'name') }),
    answers: { 200: { description: 'A page.', body: listOf(UserOut) } },
    async handle({ query }, { access }) {
      const search = searchAsked(query);
      const page = search ? access.findUsers(search) : await access.users(pageAsked(query));
      return pageReply<User>(page, userBody);
    },
  }),
  route({
    method: 'post',
    path: '/api/v1/users',
    group: 'Users',
    operationId: 'addUser',
    summary: 'Add an account.',
    description:
      'A user comes with a group of their own, named like the login. A dealer adds users of their own; operators and ' +
      'dealers are added by operators, who alone grant the API.',
    body: z
      .strictObject({
        login,
        name,
        password,
        role: role.default('user'),
        dealerId: id<UserId>().nullable().optional().meta({ description: 'Said by operators; a dealer is it.' }),
        apiAccess: z.boolean().default(false),
        services: services.default([]),
        groupIds: groupIds.default([]),
      })
      .meta({
        id: 'NewUser',
        examples: [{ login: 'anna', name: 'Anna Ivanova', password: 'correct horse battery staple' }],
      }),
    answers: { 201: { ...oneUser, description: 'Added.' } },
    problems: ['forbidden', 'conflict', 'unavailable'],
    async handle({ body: { password, ...fields } }, { access }) {
      return reply(201, await access.addUser(fields, password));
    },
  }),
  route({
    method: 'get',
    path: '/api/v1/users/{id}',
    group: 'Users',
    operationId: 'getUser',
    summary: 'One account.',
    params: byId,
    answers: { 200: oneUser },
    problems: ['not-found'],
    async handle({ params }, { access }) {
      return reply(200, await access.user(params.id));
    },
  }),
  route({
    method: 'patch',
    path: '/api/v1/users/{id}',
    group: 'Users',
    operationId: 'changeUser',
    summary: 'Change an account (JSON merge patch).',
    params: byId,
    body: z
      .strictObject({ login, name, dealerId: id<UserId>().nullable(), services, groupIds })
      .partial()
      .meta({ id: 'UserPatch', examples: [{ name: 'Anna Petrova' }] }),
    conditional: true,
    answers: { 200: oneUser },
    problems: ['not-found', 'forbidden', 'conflict', 'quota-exceeded', 'stale'],
    async handle({ params, body }, { access, ifMatch }) {
      return reply(200, await access.changeUser(params.id, ifMatch, body));
    },
  }),
  route({
    method: 'delete',
    path: '/api/v1/users/{id}',
    group: 'Users',
    operationId: 'deleteUser',
    summary: 'Delete an account with its sessions and geofences; vehicles stay.',
    params: byId,
    conditional: true,
    answers: { 204: { description: 'Deleted.' } },
    problems: ['not-found', 'forbidden', 'conflict', 'stale'],
    async handle({ params }, { access, ifMatch }) {
      await access.removeUser(params.id, ifMatch);
      return { status: 204 };
    },
  }),
  ...(
    [
      ['block', 'Block an account, and a dealer’s users with it: tokens, sockets and sessions end at once.', true],
      [
        'unblock',
        'Let a blocked account in again, and a dealer’s users with it; a user stays blocked while the dealer is.',
        false,
      ],
    ] as const
  ).map(([verb, summary, blocked]) =>
    route({
      method: 'post',
      path: `/api/v1/users/{id}/${verb}`,
      group: 'Users',
      operationId: `${verb}User`,
      summary,
      params: byId,
      answers: { 200: oneUser },
      problems: ['not-found', 'forbidden', 'conflict'],
      async handle({ params }, { access }) {
        return reply(200, await access.setBlocked(params.id, blocked));
      },
    }),
  ),
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
      description: 'For operators alone.',
      params: byId,
      answers: { 200: oneUser },
      problems: ['not-found', 'forbidden', 'conflict'],
      async handle({ params }, { access }) {
        return reply(200, await access.setApiAccess(params.id, apiAccess));
      },
    }),
  ),
  route({
    method: 'put',
    path: '/api/v1/users/{id}/password',
    group: 'Users',
    operationId: 'setPassword',
    summary: 'Give an account another password; all its sessions end.',
    description:
      'For the own account it is the same as `PUT /api/v1/me/password`: it needs `currentPassword`, and the session of the call stays.',
    params: byId,
    body: z
      .strictObject({
        password,
        currentPassword: z
          .string()
          .min(1)
          .max(1000)
          .optional()
          .meta({ description: 'For the own account, and for no other.', examples: ['correct horse battery staple'] }),
      })
      .meta({ id: 'NewPassword', examples: [{ password: 'new and unknown' }] }),
    answers: { 204: { description: 'Changed.' } },
    problems: ['not-found', 'forbidden', 'unavailable'],
    async handle({ params, body }, { access, sessionId }) {
      await access.setPassword(params.id, body.password, body.currentPassword, sessionId);
      return { status: 204 };
    },
  }),
  route({
    method: 'get',
    path: '/api/v1/users/{id}/sessions',
    group: 'Users',
    operationId: 'listSessions',
    summary: 'Where the account is logged in, the last used first.',
    params: byId,
    answers: { 200: { description: 'All open sessions.', body: listOf(SessionOut) } },
    problems: ['not-found', 'forbidden'],
    async handle({ params }, { access, sessionId }) {
      const show = (session: Session) => ({
        id: session.id,
        createdAt: isoTime(session.createdAtMs),
        lastUsedAt: isoTime(session.lastUsedAtMs),
        expiresAt: isoTime(session.expiresAtMs),
        address: session.address,
        userAgent: session.userAgent,
        current: session.id === sessionId,
      });
      return pageReply({ items: await access.sessionsOf(params.id), next: null }, show);
    },
  }),
  route({
    method: 'delete',
    path: '/api/v1/users/{id}/sessions/{sessionId}',
    group: 'Users',
    operationId: 'endSession',
    summary: 'End a session.',
    params: z.object({ id: id<UserId>(), sessionId: id<SessionId>() }),
    answers: { 204: { description: 'Ended.' } },
    problems: ['not-found', 'forbidden'],
    async handle({ params }, { access }) {
      await access.endSession(params.id, params.sessionId);
      return { status: 204 };
    },
  }),
];
