import { type InputError, PROBLEMS, type ProblemKind } from '@outrider/access';
import type { DescribedRoute } from './route.ts';

/** Examples of problems by name, for the documentation. */
export const PROBLEM_EXAMPLES = {
  'bad-body': example('invalid-request', 'The body is not valid.', [
    { pointer: '/name', detail: 'Too small: expected string to have >=1 characters' },
    { pointer: '/colour', detail: 'There is no such field. Known fields: name, dealerId.' },
  ]),
  'bad-parameter': example('invalid-request', 'A parameter is not valid.', [
    { parameter: 'id', detail: 'It must be a UUID.' },
    { parameter: 'vehicleIds', detail: 'There is no such parameter. Known parameters: vehicleId, groupId, from, to.' },
  ]),
  'bad-rows': example('invalid-request', '2 errors were found; nothing was changed.', [
    { row: 3, column: 'speedLimitKmh', detail: 'It must be a number.' },
    { row: 7, column: 'groups', detail: 'There is no group "Refrigerated".' },
  ]),
  'bad-features': example('invalid-request', '1 error was found; nothing was changed.', [
    { pointer: '/features/3/geometry/coordinates/0/2/1', detail: 'latitude must be from -90 to 90' },
  ]),
  'not-authorized': example('not-authorized', 'The token is not accepted: expired.'),
  'wrong-credentials': example('wrong-credentials', 'There is no account with this login and this password.'),
  'account-blocked': example('account-blocked', 'The account is blocked. Ask the dealer or operator who manages it.'),
  'account-expired': example('account-expired', 'The account has expired. Ask the dealer or operator who manages it.'),
  'second-factor-needed': example('second-factor-needed', 'Send a code of the second factor in `totp`, or a passkey.'),
  'wrong-second-factor': example('wrong-second-factor', 'The code is wrong, or was already used.'),
  'wrong-passkey': example('wrong-passkey', 'The passkey is unknown, or its signature is not valid.'),
  forbidden: {
    summary: PROBLEMS.forbidden[1],
    value: {
      ...example('forbidden', 'This account does not have `edit-geofences`, which the call needs.').value,
      right: 'edit-geofences',
    },
  },
  'vehicle-suspended': example('vehicle-suspended', 'The data of the vehicle is hidden: invoice 1204 is unpaid.'),
  'no-api-access': example('no-api-access', 'This account has no right to use the API. An operator can grant it.'),
  'cross-origin': example(
    'cross-origin',
    'Only pages of this service may begin a console session, or make changes with its cookie.',
  ),
  'not-found': example('not-found', 'It does not exist, or this account may not see it.'),
  'method-not-allowed': example('method-not-allowed', 'Served here: GET, POST.'),
  conflict: example('conflict', 'This value must be unique, and is already in use.', [
    { pointer: '/name', detail: 'Another group has this value.' },
  ]),
  'quota-exceeded': {
    summary: PROBLEMS['quota-exceeded'][1],
    value: {
      ...example('quota-exceeded', 'The account may have at most 10000 geofences: 9999 exist, and 2 more are needed.')
        .value,
      quota: { scope: 'account', kind: 'geofences', limit: 10_000, used: 9999, requested: 2 },
    },
  },
  'unsafe-command': example(
    'unsafe-command',
    'The vehicle is moving at 46 km/h; its engine can be blocked at 20 km/h at most.',
  ),
  'too-many-commands': example('too-many-commands', 'An account may send at most 30 commands a minute.'),
  'not-done': example('not-done', 'The task is downloading, at 40 %.', [
    { parameter: 'task_id', detail: 'downloading' },
  ]),
  gone: example('gone', 'The video was deleted: videos are kept for 30 days at most.'),
  'cursor-expired': {
    summary: PROBLEMS['cursor-expired'][1],
    value: {
      ...example('cursor-expired', 'The log no longer has what follows this cursor.').value,
      resumption: {
        cursor: 'MTtldmVudHM7NWQ0MTQwMmFiYzRiMmE3Njt0Mjs1ZDQxNDAyYWJjNGIyYTc2OzNm',
        from: '2026-01-08T12:00:00.000Z',
      },
    },
  },
  'range-not-satisfiable': example('range-not-satisfiable', 'The file has 1048576 bytes.'),
  stale: example('stale', 'Read it again, and repeat the change.'),
  'too-large': example('too-large', 'The body must have at most 1048576 bytes.'),
  'unsupported-media-type': example(
    'unsupported-media-type',
    'Send the body as JSON, with Content-Type: application/json.',
  ),
  'idempotency-mismatch': example(
    'idempotency-mismatch',
    'This Idempotency-Key was used for another request. Use a new key for each new request.',
  ),
  'too-many-requests': example(
    'too-many-requests',
    'A rate limit was exceeded. All calls of this account are refused for a while.',
  ),
  'too-much': example('too-much', 'Request fewer vehicles or a shorter time range.', [
    { parameter: 'from', detail: 'The request needs more time than allowed.' },
  ]),
  'not-acceptable': example(
    'not-acceptable',
    'The report is available as json, ndjson, csv, xlsx, pdf, parquet, arrow.',
  ),
  'internal-error': example('internal-error', 'The service failed. The error was logged.'),
  unavailable: example('unavailable', 'A part of the service is unavailable. Try again.'),
} as const satisfies Record<string, { summary: string; value: object }>;

/** Names of the examples for a kind of problem that apply to this call. */
export function examplesOf(kind: ProblemKind, route: DescribedRoute): string[] {
  if (kind !== 'invalid-request') return kind in PROBLEM_EXAMPLES ? [kind] : [];
  const names: string[] = [];
  if (route.bodyType === 'text/csv') names.push('bad-rows');
  else if (route.bodyDescribed) names.push('bad-features');
  else if (route.body) names.push('bad-body');
  names.push('bad-parameter');
  return names;
}

function example(kind: ProblemKind, detail: string, errors?: readonly InputError[]) {
  const [status, title] = PROBLEMS[kind];
  return {
    summary: title,
    value: { type: `urn:outrider:problem:${kind}`, title, status, detail, ...(errors ? { errors } : {}) },
  };
}
