import { type FleetEvent, pagesOf, type VehicleId } from '@outrider/domain';
import { type FleetCursor, LIST_FLEET } from '@outrider/warehouse';
import { type ReportArchive, ROWS_AT_ONCE } from './report.ts';

/**
 * Events of some kinds, of any number of vehicles, that have a part in a time range (Unix milliseconds), a page at a
 * time: a page is of one vehicle after another, each in the order of its events.
 */
export async function* eventsOf<Kind extends FleetEvent['kind']>(
  archive: Pick<ReportArchive, 'overlappingEvents'>,
  vehicleIds: readonly VehicleId[],
  asked: { kinds: readonly Kind[]; fromMs: number; toMs: number; signal: AbortSignal },
): AsyncGenerator<Extract<FleetEvent, { kind: Kind }>[]> {
  const isAsked = (event: FleetEvent): event is Extract<FleetEvent, { kind: Kind }> =>
    (asked.kinds as readonly string[]).includes(event.kind);
  for (let at = 0; at < vehicleIds.length; at += LIST_FLEET) {
    const part = vehicleIds.slice(at, at + LIST_FLEET);
    const pages = pagesOf((after: FleetCursor | null) => {
      asked.signal.throwIfAborted();
      return archive.overlappingEvents({ ...asked, vehicleIds: part, limit: ROWS_AT_ONCE, after });
    });
    for await (const { events } of pages) yield events.filter(isAsked);
  }
}
