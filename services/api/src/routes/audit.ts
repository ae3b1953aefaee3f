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
          'Who did it; null: the service itself, or somebody who was not let in. Of accounts outside their organisation, ' +
          'dealers see the role alone.',
      }),
    sessionId: idOut.nullable().meta({ description: 'By which session; null: by none, such as with an API key.' }),
    apiKeyId: idOut.nullable().meta({ description: 'With which API key; null: with none.' }),
    address: z.string().nullable().meta({ description: 'From which IP address.' }),
    subject: z
      .strictObject({
        kind: z.enum(KINDS),
        id: idOut.nullable().meta({ description: 'Null: a login that no account has.' }),
        name: z.string().meta({ description: 'Its name at that time; of an account, its login.' }),
      })
      .meta({ description: 'What it was done to.' }),
    before: fields.meta({ description: 'Fields that changed, as they were; null where there was nothing.' }),
    after: fields.meta({ description: 'Fields that changed, as they became; null where nothing is left.' }),
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
    summary: 'Who changed what, when, and from where: the newest first.',
    description:
      'Changes of accounts, vehicles, groups and geofences with the fields that changed, logins that were let in and ' +
      'those that were not, logouts, blocks, and grants of the API. Operators see all of it; dealers what they and their ' +
      'users did to what is theirs, and what others did to it. Notification rules are their owners’ own business: of ' +
      'those of their users, dealers see nothing. Passwords, tokens, and secrets of webhooks and message channels are never in it.',
    query: z.object({
      ...paging,
      from: utcRangeEndSuchAs('2026-01-15T00:00:00.000Z').optional().meta({ description: 'Not before.' }),
      to: utcRangeEndSuchAs('2026-01-16T00:00:00.000Z').optional().meta({ description: 'Before this.' }),
      userId: id<UserId>().optional().meta({ description: 'Only what this account did.' }),
      subject: id<string>().optional().meta({ description: 'Only what was done to this.' }),
      action: z.enum(AUDIT_ACTIONS).optional().meta({ description: 'Only this.' }),
      kind: z.enum(KINDS).optional().meta({ description: 'Only what was done to things of this kind.' }),
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
