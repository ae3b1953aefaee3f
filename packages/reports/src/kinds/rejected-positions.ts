import type { VehicleId } from '@outrider/domain';
import type { RejectedPositions } from '@outrider/warehouse';
import type { ReportArchive } from '../report.ts';
import { type JudgedCursor, judgedTrack, type TrackReport } from './jumps.ts';

const PAGE_POSITIONS = 10_000;
/** Maximum number of pages: enough for a fix every five seconds, for a day. */
const MAX_PAGES = 2;

export interface VehicleRejections {
  /** Rejected positions by reason, the most recent first. */
  rejections: RejectedPositions[];
  /** False when the vehicle sent more than is searched for jumps: only the oldest was. */
  isComplete: boolean;
}

/**
 * Positions of a vehicle, of some hours, that did not move it, and why: those that are wrong by themselves, and those
 * that are impossible in the time since the fix before.
 *
 * @param fromMs Unix milliseconds: by the time of reception; for jumps, by the times of their fixes
 */
export async function rejectedPositions(
  archive: Pick<ReportArchive, 'rejections'> & TrackReport,
  vehicleId: VehicleId,
  fromMs: number,
  toMs: number,
): Promise<VehicleRejections> {
  const rejections = await archive.rejections({ vehicleId, receivedFromMs: fromMs });
  let jumps = 0;
  let last: Omit<RejectedPositions, 'reason' | 'count'> | null = null;
  let after: JudgedCursor | null = null;
  for (let page = 0; page < MAX_PAGES && (page === 0 || after !== null); page++) {
    const track: Awaited<ReturnType<typeof judgedTrack>> = await judgedTrack(archive, {
      vehicleId,
      fromMs,
      toMs,
      limit: PAGE_POSITIONS,
      after,
    });
    for (const { position, rejection } of track.positions) {
      if (rejection === null) continue;
      const { fixTimeMs, latitude, longitude } = position;
      const lastReceivedAtMs = 'receivedAtMs' in position ? Number(position.receivedAtMs) : fixTimeMs;
      jumps++;
      last = { lastFixTimeMs: fixTimeMs, lastReceivedAtMs, latitude, longitude };
    }
    after = track.next;
  }
  if (last !== null) rejections.push({ reason: 'jump', count: jumps, ...last });
  return {
    rejections: rejections.toSorted((a, b) => b.lastReceivedAtMs - a.lastReceivedAtMs),
    isComplete: after === null,
  };
}
