import type { ListedIncident, Search } from '@outrider/access';
import {
  INCIDENT_ENTRY_KINDS,
  INCIDENT_STATES,
  type Incident,
  type IncidentAct,
  type IncidentId,
  incidentEntryJson,
  incidentJson,
  type UserId,
  type VehicleId,
} from '@outrider/domain';
import { z } from 'zod';
import {
  id,
  idOut,
  listOf,
  pageAsked,
  pageReply,
  paging,
  searchAsked,
  searching,
  text,
  timeOut,
} from '../../fields/fields.ts';
import { PAGE, pageOf } from '../../http/whole-list.ts';
import { callsOf, type Route } from '../../route.ts';
import { EventOut, LicenceExpiryOut, NOTIFICATION_EXAMPLE, rangeOf, timeRange } from './notifications.ts';

const { get, post } = callsOf('Notifications');

const COLLEAGUE_EXAMPLE = { id: '01961f3c-9c32-7e5a-9d3f-4b8c2e6a0f79', name: 'Dispatch' };
const ColleagueOut = z
  .strictObject({ id: idOut, name: z.string() })
  .meta({ id: 'Colleague', description: 'An account, with its display name.', examples: [COLLEAGUE_EXAMPLE] });

const SEVERE = z.enum(['warning', 'critical']);
const INCIDENT_EXAMPLE = {
  id: NOTIFICATION_EXAMPLE.id,
  version: 2,
  ruleId: NOTIFICATION_EXAMPLE.ruleId,
  ruleName: NOTIFICATION_EXAMPLE.ruleName,
  vehicleName: NOTIFICATION_EXAMPLE.vehicleName,
  geofenceName: NOTIFICATION_EXAMPLE.geofenceName,
  driverName: null,
  severity: 'critical' as const,
  shared: true,
  state: 'acknowledged' as const,
  owner: COLLEAGUE_EXAMPLE,
  assignee: null,
  event: NOTIFICATION_EXAMPLE.event,
  createdAt: '2026-01-15T22:30:05.000Z',
  changedAt: '2026-01-15T22:31:00.000Z',
  acknowledgedAt: '2026-01-15T22:31:00.000Z',
  closedAt: null,
  endedAt: null,
  escalateAt: null,
  escalatedAt: null,
};
const IncidentOut = z
  .strictObject({
    id: idOut.meta({ description: 'Id of the notification that opened the incident.' }),
    version: z.int().meta({ description: 'Increases with each entry.' }),
    ruleId: idOut,
    ruleName: z
      .string()
      .meta({ description: 'Name of the rule. All names are those at the time of the notification.' }),
    vehicleName: z.string().nullable(),
    geofenceName: z.string().nullable(),
    driverName: z.string().nullable(),
    severity: SEVERE,
    shared: z
      .boolean()
      .meta({ description: 'Whether other accounts of the owner’s organisation can handle the incident as well.' }),
    state: z.enum(INCIDENT_STATES).meta({
      description:
        '`open`: nobody has acknowledged it. `acknowledged`: somebody works on it. `closed`: it is dealt with.',
    }),
    owner: ColleagueOut.nullable().meta({
      description: 'Owner of the rule that opened the incident. Null if the account was deleted.',
    }),
    assignee: ColleagueOut.nullable(),
    event: z
      .union([EventOut, LicenceExpiryOut])
      .meta({ description: 'The event as it was in the first notification.' }),
    createdAt: timeOut,
    changedAt: timeOut,
    acknowledgedAt: timeOut.nullable(),
    closedAt: timeOut.nullable(),
    endedAt: timeOut.nullable().meta({
      description:
        'Time at which the event ended. Null while it is in progress, and if the rule does not notify of ends.',
    }),
    escalateAt: timeOut.nullable().meta({
      description:
        'Time at which the incident is escalated unless it is acknowledged before. Null if no escalation is planned.',
    }),
    escalatedAt: timeOut.nullable().meta({ description: 'Time of the last escalation. Null if there was none.' }),
  })
  .meta({ id: 'Incident', examples: [INCIDENT_EXAMPLE] });

const ENTRY_EXAMPLE = {
  id: '01961f3d-26f0-7081-b374-afe291c063b5',
  at: '2026-01-15T22:31:00.000Z',
  kind: 'acknowledged' as const,
  by: COLLEAGUE_EXAMPLE,
  assignee: null,
  text: null,
};
const EntryOut = z
  .strictObject({
    id: idOut,
    at: timeOut,
    kind: z.enum(INCIDENT_ENTRY_KINDS).meta({ description: '`ended`: the event is over.' }),
    by: ColleagueOut.nullable().meta({
      description: 'Account that made the entry. Null for the service, and if the account was deleted.',
    }),
    assignee: ColleagueOut.nullable().meta({
      description: 'For `assigned`: the new assignee. Null if the incident was unassigned, or the account was deleted.',
    }),
    text: z.string().nullable(),
  })
  .meta({ id: 'IncidentEntry', examples: [ENTRY_EXAMPLE] });
const ListedIncidentOut = z
  .strictObject({
    ...IncidentOut.shape,
    entries: z.array(EntryOut).meta({ description: 'History of the incident, oldest entry first.' }),
  })
  .meta({ id: 'IncidentWithEntries', examples: [{ ...INCIDENT_EXAMPLE, entries: [ENTRY_EXAMPLE] }] });

const comment = text(2000);
const NewEntry = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('acknowledged') }),
    z.strictObject({
      kind: z.literal('assigned'),
      assigneeId: id<UserId>().nullable().meta({
        description: 'Account to assign the incident to, which must be able to see it. Null to unassign the incident.',
      }),
    }),
    z.strictObject({ kind: z.literal('commented'), text: comment }),
    z.strictObject({ kind: z.literal('escalated') }),
    z.strictObject({ kind: z.literal('closed'), text: comment.nullable().default(null) }),
  ])
  .meta({ id: 'NewIncidentEntry', examples: [{ kind: 'acknowledged' }] });

const byId = z.object({ id: id<IncidentId>() });

type NameOf = (id: UserId) => string | null;

function listedBody({ incident, entries }: ListedIncident, nameOf: NameOf): Record<string, unknown> {
  return { ...incidentJson(incident, nameOf), entries: entries.map((entry) => incidentEntryJson(entry, nameOf)) };
}

export const incidentRoutes: Route[] = [
  get('/api/v1/incidents', {
    operationId: 'listIncidents',
    summary: 'List the incidents that the caller can handle, newest first.',
    description:
      'Returns the incidents of the caller’s rules and those that other accounts of the organisation share, as far as the caller may see the event now. A page may therefore have fewer items than `limit`.',
    query: z.object({
      ...paging,
      ...timeRange('the incident was opened'),
      state: z
        .enum([...INCIDENT_STATES, 'active'])
        .optional()
        .meta({
          description: 'Return only incidents in this state. `active` stands for `open` and `acknowledged`.',
          examples: ['active'],
        }),
      severity: SEVERE.optional().meta({
        description: 'Return only incidents of this severity.',
        examples: ['critical'],
      }),
      vehicleId: id<VehicleId>().optional().meta({ description: 'Return only incidents about this vehicle.' }),
      assigneeId: id<UserId>()
        .optional()
        .meta({ description: 'Return only incidents that are assigned to this account.' }),
    }),
    answers: {
      200: {
        description: PAGE,
        body: z
          .strictObject({
            ...listOf(IncidentOut).shape,
            openCount: z
              .int()
              .meta({ description: 'Number of incidents that nobody has acknowledged, regardless of the filters.' }),
          })
          .meta({ examples: [{ items: [INCIDENT_EXAMPLE], nextCursor: null, openCount: 1 }] }),
      },
    },
    async handle({ query }, { access }) {
      const { state, severity, vehicleId, assigneeId } = query;
      const states = state === 'active' ? (['open', 'acknowledged'] as const) : state && [state];
      const { incidents } = access;
      const page = await incidents.list(
        {
          ...rangeOf(query),
          ...(states === undefined ? {} : { states }),
          ...(severity === undefined ? {} : { severity }),
          ...(vehicleId === undefined ? {} : { vehicleId }),
          ...(assigneeId === undefined ? {} : { assigneeId }),
        },
        pageAsked(query),
      );
      const { body, status } = pageReply(page, (incident: Incident) => incidentJson(incident, incidents.nameOf));
      return { status, body: { ...body, openCount: page.openCount } };
    },
  }),
  get('/api/v1/incidents/{id}', {
    operationId: 'getIncident',
    summary: 'Get an incident, with its history.',
    params: byId,
    answers: { 200: { description: 'The incident, with its history.', body: ListedIncidentOut } },
    problems: ['not-found'],
    async handle({ params }, { access: { incidents } }) {
      return { status: 200, body: listedBody(await incidents.get(params.id), incidents.nameOf) };
    },
  }),
  post('/api/v1/incidents/{id}/entries', {
    operationId: 'addIncidentEntry',
    summary: 'Acknowledge, assign, comment on, escalate or close an incident.',
    description:
      'Actions that change nothing are not recorded, such as acknowledging an acknowledged incident or closing a closed one. An escalation sends the messages of the rule at once. A closed incident accepts only comments.',
    params: byId,
    body: NewEntry,
    answers: {
      201: {
        description: 'The incident after the change.',
        body: ListedIncidentOut,
        headers: { Location: 'URL of the incident.' },
      },
    },
    problems: ['not-found', 'conflict'],
    async handle({ params, body }, { access: { incidents } }) {
      const listed = await incidents.act(params.id, body as IncidentAct);
      return {
        status: 201,
        body: listedBody(listed, incidents.nameOf),
        headers: { location: `/api/v1/incidents/${params.id}` },
      };
    },
  }),
  get('/api/v1/incidents/{id}/assignees', {
    operationId: 'listIncidentAssignees',
    summary: 'List the accounts that can see an incident and therefore be assigned to it, by name.',
    params: byId,
    query: z.object({ ...paging, q: searching('name').q }),
    answers: { 200: pageOf(ColleagueOut) },
    problems: ['not-found'],
    async handle({ params, query }, { access }) {
      // `searchAsked` returns null only without search and sorting.
      const search = searchAsked({ ...query, sort: 'name' }) as Search<'name'>;
      return pageReply(await access.incidents.assignees(params.id, search), (each) => each);
    },
  }),
];
