import type { DriverId, JobId, UserId } from '@outrider/domain';
import { z } from 'zod';
import { id } from '../../fields/fields.ts';
import { FILE_REQUEST_HEADERS, storedFileReply } from '../../http/file-reply.ts';
import { type Route, route } from '../../route.ts';
import { accepted, PersonExportOut } from '../jobs.ts';

const ACCEPTED = {
  202: {
    description: 'The job was created. Its progress is at `Location`.',
    body: PersonExportOut,
    headers: { Location: 'URL of the job.' },
  },
};
const FORM =
  'The file is one JSON object; its `data` has a list for each kind of stored data, without secrets. It is kept as long as report files. The audit trail records who requested it.';
const FILE_HEADERS = {
  'Content-Disposition': 'Suggested file name.',
  ETag: 'Changes only if the file changes.',
  'Last-Modified': 'When the file was made.',
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
    summary: 'Export all data about an account to a file.',
    description: `Accounts can export their own data; dealers and operators can also export the data of accounts that they manage. Contains profile, sessions, API keys, rules, notifications, reports, video tasks, commands and entries of the audit trail. For a dealer, the sections that only the account itself and operators may see are left out and named in \`leftOut\`. ${FORM}`,
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
    summary: 'Export all data about a driver to a file.',
    description: `For operators, and for the dealer that manages the driver. Contains profile, codes, assignments, shifts, trips and their scores, and entries of the audit trail. ${FORM}`,
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
    summary: 'Download the file of a finished export; only for the account that requested it.',
    description: 'With `Range`, a part of the file. `HEAD` is supported as well.',
    scope: null,
    headers: FILE_REQUEST_HEADERS,
    params: z.object({ id: id<JobId>() }),
    answers: {
      200: { description: 'The file.', ...file, headers: FILE_HEADERS },
      206: {
        description: 'The requested part of the file.',
        ...file,
        headers: { ...FILE_HEADERS, 'Content-Range': 'Range of bytes in the response, and length of the file.' },
      },
      304: { description: 'The client has the current file already.', headers: FILE_HEADERS },
    },
    problems: ['not-found', 'not-done', 'gone', 'range-not-satisfiable'],
    async handle({ params }, { access, method, header }) {
      return storedFileReply(await access.jobs.exportFile(params.id), access.jobs, { method, header });
    },
  }),
];
