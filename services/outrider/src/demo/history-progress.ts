import type { VehicleId } from '@outrider/domain';
import { eventsTopic, type ReaderProgress, telemetryTopic } from '@outrider/log';
import type { Stores } from '../stores.ts';
import type { WrittenHistory } from './history.ts';

/** How far rules, archive and notifications have processed a written history. */
export interface Progress {
  /** Of its packets: those that all of them have read. */
  share: number;
  /** What has not processed it yet; empty once all is done. */
  waitsFor: readonly string[];
}

/** @param end offset in the log after the history's last packet */
export async function progressOf(
  { hub, log, warehouse }: Pick<Stores, 'hub' | 'log' | 'warehouse'>,
  { lastFixMs }: WrittenHistory,
  end: number,
): Promise<Progress> {
  const readers = await log.readers();
  const telemetry = readers.filter(({ topic }) => topic === telemetryTopic.name);
  const share = Math.min(1, ...telemetry.map(({ offset }) => offset / end));
  const unevaluated = await behindTheirLastFix(hub, lastFixMs);
  if (unevaluated.length > 0) return { share, waitsFor: unevaluated.map((id) => `the rules for vehicle ${id}`) };
  // A query makes the archive write pending events, which otherwise may wait for minutes.
  await warehouse.positions({ vehicleIds: [...lastFixMs.keys()], fromMs: 0, toMs: 1, limit: 1 });
  const events = Math.max(0, ...(await log.endOffsets(eventsTopic)).values());
  return {
    share,
    waitsFor: [
      ...readersBehind(readers, telemetryTopic.name, end),
      ...readersBehind(readers, eventsTopic.name, events),
    ],
  };
}

/** Vehicles whose status does not have their last fix yet. Once it has, their events are in the log. */
async function behindTheirLastFix(hub: Stores['hub'], lastFixMs: WrittenHistory['lastFixMs']): Promise<VehicleId[]> {
  const fixMs = new Map(
    (await hub.latest([...lastFixMs.keys()])).map((each) => [each.vehicleId, each.position?.fixTimeMs]),
  );
  return [...lastFixMs].filter(([id, lastMs]) => (fixMs.get(id) ?? 0) < lastMs).map(([id]) => id);
}

function readersBehind(readers: readonly ReaderProgress[], name: string, end: number): string[] {
  return readers
    .filter(({ topic, offset }) => topic === name && offset < end)
    .map(({ reader, offset }) => `${reader}, which is at ${offset} of ${end} in ${name}`);
}
