import { FilesFullError } from '@outrider/files';
import { BusyError, WarehouseFullError } from '@outrider/warehouse';

/** Maximum attempts at a job that fails or whose worker crashes. */
export const MAX_ATTEMPTS = 5;

/**
 * Whether the archive is busy or a store is full: the job is not at fault. It waits, and the attempt does not count.
 */
export function isPassing(error: unknown): boolean {
  return error instanceof BusyError || error instanceof FilesFullError || error instanceof WarehouseFullError;
}
