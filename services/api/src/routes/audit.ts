import type { AuditShown } from '@outrider/access';
import { isoTime, type UserId } from '@outrider/domain';
import { AUDIT_ACTIONS } from '@outrider/registry';
import { z } from 'zod';
import { id, idOut, pageAsked, pageReply, paging, timeOut, utcRangeEndSuchAs } from '../fields/fields.ts';
import { pageOf } from '../http/whole-list.ts';
import { type Route, route } from '../route.ts';

const fields = z.record(z.string(), z.unknown()).nullable();

const KINDS = [
  'user',
  'vehicle',
  'group',
  'geofence',
  'notification-rule',
  'video-profile',
  'driver',
  'driver-assignment',
  'message-channel',
  'forwarding-destination',
  'report-schedule',
  'share-link',
  'api-key',
  'counter-correction',
  'custom-counter',
  'maintenance-plan',
  'service-record',
  'video-task',
  'command',
] as const;

const AuditEntryOut = z
  .strictObject({
    id: idOut,
    at: timeOut,
    action: z.enum(AUDIT_ACTIONS),
    user: z
      .strictObject({
        id: idOut.nullable(),
        login: z.string().nullable(),
        role: z.enum(['operator', 'dealer', 'user']),
      })
      .nullable()
      .meta({
        description:
          'Account that did it. Null for the service itself and for failed logins. Of accounts outside their ' +
          'organisation, dealers see only the role; `sessionId`, `apiKeyId` and `address` are then null.',
      }),
    sessionId: idOut
      .nullable()
      .meta({ description: 'Session in which it was done. Null if there was none, for example with an API key.' }),
    apiKeyId: idOut.nullable().meta({ description: 'API key that was used. Null if none was used.' }),
    address: z.string().nullable().meta({ description: 'IP address of the caller.' }),
    subject: z
      .strictObject({
        kind: z.enum(KINDS),
        id: idOut.nullable().meta({ description: 'Null for a failed login whose name no account has.' }),
        name: z.string().meta({ description: 'Name of the object at that time; for an account, its login.' }),
      })
      .meta({ description: 'Object that the action concerned.' }),
    before: fields.meta({
      description:
        'Old values of the fields that changed. Null if there are none, for example when the object was created.',
    }),
    after: fields.meta({
      description:
        'New values of the fields that changed. Null if there are none, for example when the object was deleted.',
    }),
  })
  .meta({
    id: 'AuditEntry',
    examples: [
      {
        id: '01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d57',
        at: '2026-01-15T12:00:00.000Z',
        action: 'changed',
        user: { id: '01961f3c-0000-7c3e-9b1d-2f6a0c4e8d57', login: 'admin', role: 'operator' },
        sessionId: '01961f3c-1111-7c3e-9b1d-2f6a0c4e8d57',
        apiKeyId: null,
        address: '203.0.113.5',
        subject: { kind: 'vehicle', id: '01961f3c-2222-7c3e-9b1d-2f6a0c4e8d57', name: 'Van 12' },
        before: { speedLimitKmh: 90 },
        after: { speedLimitKmh: 80 },
      },
    ],
  });

function show({ atMs, ...entry }: AuditShown) {
  return { ...entry, at: isoTime(atMs) };
}

export const auditRoutes: Route[] = [
  route({
    method: 'get',
    path: '/api/v1/audit',
    group: 'Users',
    operationId: 'listAudit',
    summary: 'List the audit trail, newest first: who changed what, when, and from where.',
    description:
      'Contains changes of accounts, vehicles, groups, geozones and other objects, with the fields that changed; ' +
      'successful and failed logins; logouts; blocked accounts; and grants of the right to use the API. Operators see ' +
      'all entries. Dealers see what they and their users did to their own objects, and what others did to these. ' +
      'Dealers do not see entries about the notification rules of their users. Passwords, tokens, and secrets of ' +
      'webhooks and message channels are never included.',
    query: z.object({
      ...paging,
      from: utcRangeEndSuchAs('2026-01-15T00:00:00.000Z')
        .optional()
        .meta({ description: 'Return only entries from this time on, inclusive.' }),
      to: utcRangeEndSuchAs('2026-01-16T00:00:00.000Z')
        .optional()
        .meta({ description: 'Return only entries from before this time.' }),
      userId: id<UserId>().optional().meta({ description: 'Return only actions of this account.' }),
      subject: id<string>().optional().meta({ description: 'Return only actions on the object with this id.' }),
      action: z.enum(AUDIT_ACTIONS).optional().meta({ description: 'Return only this kind of action.' }),
      kind: z.enum(KINDS).optional().meta({ description: 'Return only actions on objects of this kind.' }),
    }),
    answers: { 200: pageOf(AuditEntryOut) },
    problems: ['forbidden'],
    async handle({ query }, { access }) {
      const { from, to, userId, subject, action, kind } = query;
      const filter = {
        ...(from === undefined ? {} : { fromMs: from }),
        ...(to === undefined ? {} : { toMs: to }),
        ...(userId === undefined ? {} : { userId }),
        ...(subject === undefined ? {} : { subjectId: subject }),
        ...(action === undefined ? {} : { action }),
        ...(kind === undefined ? {} : { subjectKind: kind }),
      };
      return pageReply(await access.audit.list(filter, pageAsked(query)), show);
    },
  }),
];
