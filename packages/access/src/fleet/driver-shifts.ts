import { type DriverShift, pagesOf, type VehicleId } from '@outrider/domain';
import type { ReportArchive } from '@outrider/reports';
import type { FleetCursor } from '@outrider/warehouse';

const PAGE_SHIFTS = 5000;
const VEHICLES_AT_ONCE = 500;

/** Shifts of drivers that overlap a time range (Unix milliseconds), in pages. */
export async function* driverShifts(
  archive: Pick<ReportArchive, 'overlappingEvents'>,
  ids: readonly VehicleId[],
  range: { fromMs: number; toMs: number; signal: AbortSignal },
): AsyncGenerator<DriverShift[]> {
  for (let from = 0; from < ids.length; from += VEHICLES_AT_ONCE) {
    const vehicleIds = ids.slice(from, from + VEHICLES_AT_ONCE);
    const asked = { vehicleIds, kinds: ['driver-shift'] as const, ...range, limit: PAGE_SHIFTS };
    const pages = pagesOf((after: FleetCursor | null) => archive.overlappingEvents({ ...asked, after }));
    for await (const { events } of pages) yield events.filter((event) => event.kind === 'driver-shift');
  }
}
