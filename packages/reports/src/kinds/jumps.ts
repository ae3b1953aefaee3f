import type { Position, Rejection, VehicleId } from '@outrider/domain';
import { ANYWHERE_MS, JumpJudge, type JumpState } from '@outrider/engine';
import type { FixesBeforeQuestion, Warehouse } from '@outrider/warehouse';
import type { ReportArchive } from '../report.ts';

/** Where a page of a track ended. */
export interface TrackCursor {
  fixTimeMs: number;
  rejection: Rejection | null;
}

/** The part of the archive that a track needs. */
export interface TrackReport extends Pick<ReportArchive, 'fixesBefore'> {
  /**
   * Good positions of a vehicle with `fromMs` <= time of the fix < `toMs`, oldest first.
   *
   * @param question `limit`: at most this many; `after`: the `next` of the page before
   */
  track(question: {
    vehicleId: VehicleId;
    fromMs: number;
    toMs: number;
    limit: number;
    after: TrackCursor | null;
  }): Promise<{ positions: readonly Position[]; next: TrackCursor | null }>;
}

/*
 * The archive does not store which fixes are jumps: that depends on earlier fixes, which may arrive later. So jumps are
 * found when positions are read, in the order of their times, by the same code that the rules use.
 */

/**
 * How many fixes before the time range are read to find where the vehicle was; older ones make no difference. The first
 * is assumed to be good. If it is wrong itself, three fixes that agree over two minutes correct it. Even a terminal
 * that sends every second has that many among them.
 */
const LEAD_FIXES = 250;

/** Why a position did not move the vehicle, though it is valid by itself. */
export type Judged = 'jump' | null;

/** A jump judge for each of the vehicles, with its state at a moment. */
export async function judgesAt(
  archive: Pick<Warehouse, 'fixesBefore'>,
  vehicleIds: readonly VehicleId[],
  atMs: number,
  waits: Pick<FixesBeforeQuestion, 'queue' | 'signal'> = {},
): Promise<Map<VehicleId, JumpJudge>> {
  const judges = new Map(vehicleIds.map((vehicleId) => [vehicleId, new JumpJudge()]));
  if (judges.size === 0) return judges;
  const question = { vehicleIds, fromMs: atMs - ANYWHERE_MS, beforeMs: atMs, count: LEAD_FIXES, ...waits };
  for (const fix of await archive.fixesBefore(question)) judges.get(fix.vehicleId)?.judge(fix);
  return judges;
}

/**
 * Judges the next position of the vehicle. A position that the terminal marks as invalid is no evidence of anything.
 */
export function judged(judge: JumpJudge, position: Position): Judged {
  return position.valid && judge.judge(position) === 'jump' ? 'jump' : null;
}

/** End of a page of one vehicle's track, with the state of its jump detection. */
export interface JudgedCursor extends TrackCursor {
  judged: JumpState;
}

export interface JudgedTrack {
  positions: { position: Position; rejection: Judged }[];
  next: JudgedCursor | null;
}

/** A page of one vehicle's track, with its jumps marked. */
export async function judgedTrack(
  archive: TrackReport,
  question: { vehicleId: VehicleId; fromMs: number; toMs: number; limit: number; after: JudgedCursor | null },
): Promise<JudgedTrack> {
  const { vehicleId, fromMs, toMs, limit, after } = question;
  const place = after && { fixTimeMs: after.fixTimeMs, rejection: after.rejection };
  const [page, begun] = await Promise.all([
    archive.track({ vehicleId, fromMs, toMs, limit, after: place }),
    after ? new JumpJudge(after.judged) : judgesAt(archive, [vehicleId], fromMs).then((all) => all.get(vehicleId)),
  ]);
  const judge = begun ?? new JumpJudge();
  const positions = page.positions.map((position) => ({ position, rejection: judged(judge, position) }));
  return { positions, next: page.next && { ...page.next, judged: judge.state } };
}
