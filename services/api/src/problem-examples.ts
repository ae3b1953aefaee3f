import { type InputError, PROBLEMS, type ProblemKind } from '@outrider/access';
import type { DescribedRoute } from './route.ts';

/** Examples of problems by name, for the documentation. */
export const PROBLEM_EXAMPLES = {
  'bad-body': example('invalid-request', 'The body is not valid.', [
    { pointer: '/name', detail: 'Too small: expected string to have >=1 characters' },
    { pointer: '/colour', detail: 'There is no such field; known here: name, dealerId.' },
  ]),
  'bad-parameter': example('invalid-request', 'A parameter is not valid.', [
    { parameter: 'id', detail: 'It must be a UUID.' },
    { parameter: 'vehicleIds', detail: 'There is no such parameter; known here: vehicleId, groupId, from, to.' },
  ]),
  'bad-rows': example('invalid-request', '2 things are wrong; nothing was changed.', [
    { row: 3, column: 'speedLimitKmh', detail: 'It must be a number.' },
    { row: 7, column: 'groups', detail: 'There is no group "Refrigerated".' },
  ]),
  'bad-features': example('invalid-request', '1 thing is wrong; nothing was changed.', [
    { pointer: '/features/3/geometry/coordinates/0/2/1', detail: 'latitude must be from -90 to 90' },
  ]),
  'not-authorized': example('not-authorized', 'The token is not taken: expired.'),
  'wrong-credentials': example('wrong-credentials', 'There is no account with this login and this password.'),
  'account-blocked': example('account-blocked', 'The account is blocked: ask those who manage it.'),
  'account-expired': example(
    'account-expired',
    'The account worked until a time that is over: ask those who manage it.',
  ),
  'second-factor-needed': example('second-factor-needed', 'Send a code of the second factor in `totp`, or a passkey.'),
  'wrong-second-factor': example('wrong-second-factor', 'The code is wrong, or was used before.'),
  'wrong-passkey': example('wrong-passkey', 'The passkey is not known here, or what it signed is not good.'),
  forbidden: {
    summary: PROBLEMS.forbidden[1],
    value: {
      ...example('forbidden', 'This account was not given `edit-geofences`, which the call needs.').value,
      right: 'edit-geofences',
    },
  },
  'vehicle-suspended': example('vehicle-suspended', 'Its data is hidden: invoice 1204 is unpaid.'),
  'no-api-access': example('no-api-access', 'The right to use the API is granted by the operator.'),
  'cross-origin': example('cross-origin', 'With the cookie of the console, only its own pages may change something.'),
  'not-found': example('not-found', 'It does not exist, or this account may not see it.'),
  'method-not-allowed': example('method-not-allowed', 'Served here: GET, POST.'),
  conflict: example('conflict', 'Something else has this value already.', [
    { pointer: '/name', detail: 'Another one has it.' },
  ]),
  'quota-exceeded': {
    summary: PROBLEMS['quota-exceeded'][1],
    value: {
      ...example('quota-exceeded', 'The account may have 10000 geofences: it has 9999, and 2 more are needed.').value,
      quota: { scope: 'account', kind: 'geofences', limit: 10_000, used: 9999, requested: 2 },
    },
  },
  'unsafe-command': example('unsafe-command', 'The vehicle drives 46 km/h; its engine is blocked at 20 km/h at most.'),
  'too-many-commands': example('too-many-commands', 'An account may ask for 30 commands a minute.'),
  'not-done': example('not-done', 'The task is downloading, 40 % of it.', [
    { parameter: 'task_id', detail: 'downloading' },
  ]),
  gone: example('gone', 'The video was deleted: videos are kept for 30 days.'),
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
  stale: example('stale', 'Read it again, and change what it is now.'),
  'too-large': example('too-large', 'A body may have 1048576 bytes.'),
  'unsupported-media-type': example('unsupported-media-type', 'Send the body as it is described.'),
  'idempotency-mismatch': example(
    'idempotency-mismatch',
    'Another request had this Idempotency-Key: a new one needs a new key.',
  ),
  'too-many-requests': example(
    'too-many-requests',
    'A limit was exceeded; all calls of this account are refused for a while.',
  ),
  'too-much': example('too-much', 'Ask for fewer vehicles, or for less time.', [
    { parameter: 'from', detail: 'It takes more time than one question may.' },
  ]),
  'not-acceptable': example('not-acceptable', 'A report comes as JSON, NDJSON, CSV, XLSX, Parquet or Arrow.'),
  'internal-error': example('internal-error', 'This is not the fault of the request. It was noted.'),
  unavailable: example('unavailable', 'A part of the service does not answer; try again.'),
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
