import type { DriverId, JobId, UserId } from '@outrider/domain';
import { z } from 'zod';
import { id } from '../../fields/fields.ts';
import { FILE_REQUEST_HEADERS, storedFileReply } from '../../http/file-reply.ts';
import { type Route, route } from '../../route.ts';
import { accepted, PersonExportOut } from '../jobs.ts';

const ACCEPTED = {
  202: {
    description: 'It is a job now: see how far it is there.',
    body: PersonExportOut,
    headers: { Location: 'URL of the job.' },
  },
};
const FORM =
  'The file is one JSON object: `data` has a list for each kind of what is held, without secrets. It is kept as files of reports are. The audit trail says who asked for it.';
const FILE_HEADERS = {
  'Content-Disposition': 'A name for it.',
  ETag: 'The same as long as the file is.',
  'Last-Modified': 'When it was made.',
  'Accept-Ranges': '`bytes`.',
};
const file = {
  body: z.looseObject({}).meta({ examples: [{ format: 'outrider-personal-data', version: 1, data: { profile: [] } }] }),
};

export const personExportRoutes: Route[] = [
  route({
    method: 'post',
    path: '/api/v1/users/{id}/export',
    group: 'Users',
    operationId: 'exportUser',
    summary: 'Have all that is held about an account made as a file.',
    description: `An account has its own; dealers and operators that of theirs: profile, sessions, API keys, rules, notifications, reports, video tasks, commands and lines of the audit trail. A dealer does not get what an account alone may see: \`leftOut\` names it. ${FORM}`,
    scope: null,
    params: z.object({ id: id<UserId>() }),
    answers: ACCEPTED,
    problems: ['not-found', 'forbidden', 'conflict'],
    async handle({ params }, { access }) {
      return accepted(await access.users.export(params.id), access.jobs);
    },
  }),
  route({
    method: 'post',
    path: '/api/v1/drivers/{id}/export',
    group: 'Vehicles',
    operationId: 'exportDriver',
    summary: 'Have all that is held about a driver made as a file.',
    description: `For who keeps the driver: profile, codes, assignments, shifts, trips, their scores, and lines of the audit trail. ${FORM}`,
    scope: null,
    params: z.object({ id: id<DriverId>() }),
    answers: ACCEPTED,
    problems: ['not-found', 'forbidden', 'conflict'],
    async handle({ params }, { access }) {
      return accepted(await access.exportDriver(params.id), access.jobs);
    },
  }),
  route({
    method: 'get',
    path: '/api/v1/person-exports/{id}/file',
    group: 'Users',
    operationId: 'getPersonExport',
    summary: 'The file of an export that is done, for who asked for it.',
    description: 'With `Range`, a part of it. `HEAD` is answered as well.',
    scope: null,
    headers: FILE_REQUEST_HEADERS,
    params: z.object({ id: id<JobId>() }),
    answers: {
      200: { description: 'The file.', ...file, headers: FILE_HEADERS },
      206: {
        description: 'The part that was asked for.',
        ...file,
        headers: { ...FILE_HEADERS, 'Content-Range': 'Which bytes, of how many.' },
      },
      304: { description: 'The client has it already.', headers: FILE_HEADERS },
    },
    problems: ['not-found', 'not-done', 'gone', 'range-not-satisfiable'],
    async handle({ params }, { access, method, header }) {
      return storedFileReply(await access.jobs.exportFile(params.id), access.jobs, { method, header });
    },
  }),
];
