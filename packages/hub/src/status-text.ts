import type { Position, VehicleId, VehicleStatus } from '@outrider/domain';

/** A status as it crosses threads and stands in Redis: a record that is the position is not written twice. */
type WrittenStatus = Omit<VehicleStatus, 'record'> & { record: Position | null };

/** What versions before this one stored: the newest good fix alone. */
interface WrittenPosition {
  vehicleId: VehicleId;
  position: Position;
  receivedAtMs: number;
}

/** JSON of one status. */
export function writeStatus(status: VehicleStatus): string {
  return JSON.stringify(status.record === status.position ? { ...status, record: null } : status);
}

/** JSON of a list of them. */
export function writeStatuses(statuses: readonly VehicleStatus[]): string {
  return `[${statuses.map(writeStatus).join()}]`;
}

/**
 * Reads what {@link writeStatus} wrote, in this version or an earlier one. Only what a hub wrote is where a hub reads.
 */
export function readStatus(text: string): VehicleStatus {
  return statusFrom(JSON.parse(text));
}

export function readStatuses(text: string): VehicleStatus[] {
  return JSON.parse(text).map(statusFrom);
}

function statusFrom(written: WrittenStatus | WrittenPosition): VehicleStatus {
  if ('asOfMs' in written) return { ...written, record: written.record ?? (written.position as Position) };
  const { position, receivedAtMs } = written;
  return {
    ...written,
    asOfMs: receivedAtMs,
    record: position,
    recordReceivedAtMs: receivedAtMs,
    lastContactAtMs: receivedAtMs,
    protocol: null,
    activity: null,
  };
}
