import type { Position, VehicleId, VehicleStatus } from '@outrider/domain';

/** Serialised form of a status for other threads and Redis: if the record is the position, it is written only once. */
type WrittenStatus = Omit<VehicleStatus, 'record'> & { record: Position | null };

/** Format of earlier versions: only the newest good fix. */
interface WrittenPosition {
  vehicleId: VehicleId;
  position: Position;
  receivedAtMs: number;
}

/** Serialises one status as JSON. */
export function writeStatus(status: VehicleStatus): string {
  return JSON.stringify(status.record === status.position ? { ...status, record: null } : status);
}

/** Serialises a list of statuses as JSON. */
export function writeStatuses(statuses: readonly VehicleStatus[]): string {
  return `[${statuses.map(writeStatus).join()}]`;
}

/**
 * Parses what {@link writeStatus} wrote, in this version or an earlier one. The text is trusted, because only hubs
 * write it.
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
