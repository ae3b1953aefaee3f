import { badField, notFound, operatorOnly, Problem, quotaExceeded } from '@outrider/access';
import { DamagedFileError, FilesAwayError, FilesFullError } from '@outrider/files';
import { HubAwayError } from '@outrider/hub';
import {
  ConflictError,
  DamagedRowError,
  NotFoundError,
  OperatorOnlyError,
  OverlappingAssignmentError,
  PasswordsBusyError,
  QuotaExceededError,
  RegistryAwayError,
  RegistryFullError,
  StaleError,
  TooManyTestsError,
  UnknownReferenceError,
} from '@outrider/registry';
import { TooManyRowsError } from '@outrider/reports';
import {
  BusyError,
  TooMuchError,
  WarehouseAwayError,
  WarehouseDamagedError,
  WarehouseFullError,
} from '@outrider/warehouse';
import { etagOf } from './input.ts';

/** Conflict keys that are not UUIDs, such as addresses, are shown to operators only. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Name of a kind, as in the paths. */
function nameOf(kind: ConflictError['kind']): string {
  return kind === 'geofence' ? 'geozone' : kind.replace('-', ' ');
}

function forOperators({ field }: OperatorOnlyError): Problem {
  return new Problem('forbidden', 'Only operators may set this value.', {
    errors: [{ pointer: `/${field}`, detail: operatorOnly(field) }],
  });
}

/** Whether the error means that a server behind this one is unavailable. */
export function isAway(error: unknown): boolean {
  return [HubAwayError, RegistryAwayError, WarehouseAwayError, WarehouseDamagedError, FilesAwayError].some(
    (Away) => error instanceof Away,
  );
}

/** Whether the error means that a disk is full. */
export function isDiskFull(error: unknown): boolean {
  return [RegistryFullError, WarehouseFullError, FilesFullError].some((Full) => error instanceof Full);
}

/** Maps an error of the registry or another store to a problem; null for unexpected errors. */
export function asProblem(error: unknown): Problem | null {
  if (error instanceof Problem) return error;
  if (error instanceof NotFoundError) return notFound();
  if (error instanceof StaleError)
    return new Problem('stale', 'Read it again, and repeat the change.', {
      headers: { etag: etagOf(error.current.version) },
    });
  if (error instanceof ConflictError) {
    const pointer = error.kind === 'geofence' ? `/properties/${error.field}` : `/${error.field}`;
    return new Problem('conflict', 'This value must be unique, and is already in use.', {
      errors: [{ pointer, detail: `Another ${nameOf(error.kind)} has this value.` }],
    });
  }
  if (error instanceof OverlappingAssignmentError)
    return new Problem('conflict', 'A driver is already assigned to the vehicle in this interval.', {
      errors: [{ pointer: '/vehicleId', detail: `Assignment ${error.id} overlaps this interval: end it first.` }],
    });
  if (error instanceof OperatorOnlyError) return forOperators(error);
  if (error instanceof QuotaExceededError) return quotaExceeded(error);
  if (error instanceof UnknownReferenceError) return badField(`/${error.field}`, `${error.id} does not exist.`);
  if (error instanceof TooManyTestsError)
    return new Problem('too-many-requests', 'Too many test messages. Wait before sending the next.', {
      headers: { 'retry-after': String(Math.ceil(error.retryAfterMs / 1000)) },
    });
  if (error instanceof TooManyRowsError) return new Problem('too-much', `${error.message}.`);
  if (error instanceof TooMuchError)
    return new Problem('too-much', 'Request fewer vehicles or a shorter time range.', {
      errors: [{ parameter: 'from', detail: `The request needs more ${error.what} than allowed.` }],
    });
  if (error instanceof BusyError)
    return new Problem('unavailable', 'Too many reports are being made. Try again.', {
      headers: { 'retry-after': '5' },
    });
  if (error instanceof PasswordsBusyError)
    return new Problem('unavailable', 'Too many passwords are being checked. Try again.', {
      headers: { 'retry-after': '1' },
    });
  if (error instanceof DamagedRowError)
    return new Problem(
      'damaged',
      `The stored data of ${UUID.test(error.key) ? error.key : 'this object'} is damaged. The operator is notified.`,
    );
  if (error instanceof DamagedFileError)
    return new Problem('damaged', `The stored file ${error.id} is damaged. The operator is notified.`);
  if (isDiskFull(error))
    return new Problem('unavailable', 'The disk is full, and nothing was written. Try again later.', {
      headers: { 'retry-after': '30' },
    });
  if (isAway(error))
    return new Problem('unavailable', 'A part of the service is unavailable. Try again.', {
      headers: { 'retry-after': '5' },
    });
  return null;
}
