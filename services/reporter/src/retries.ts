import { FilesFullError } from '@outrider/files';
import { BusyError, WarehouseFullError } from '@outrider/warehouse';

/** Of a job whose worker dies, or that fails. */
export const MAX_ATTEMPTS = 5;

/** Where the archive is busy or a store is full, which is no fault of the job: it waits, and that counts as nothing. */
export function isPassing(error: unknown): boolean {
  return error instanceof BusyError || error instanceof FilesFullError || error instanceof WarehouseFullError;
}
