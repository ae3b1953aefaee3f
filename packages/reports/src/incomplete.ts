import type { ReportArchive } from './report.ts';

/** In Unix milliseconds, from inclusive, to exclusive. */
export interface TimeSpan {
  fromMs: number;
  toMs: number;
}

/** Maximum number of spans: beyond it, those with the shortest time between them are merged. */
const MAX_SPANS = 20;

/** The spans within a time range of which the archive has lost rows, oldest first. */
export async function incompleteWithin(
  archive: Pick<ReportArchive, 'gaps'>,
  { fromMs, toMs }: TimeSpan,
): Promise<TimeSpan[]> {
  const spans: TimeSpan[] = [];
  for (const gap of (await archive.gaps()).toSorted((one, other) => one.fromMs - other.fromMs)) {
    if (gap.table !== 'positions' && gap.table !== 'events') continue;
    // The end of a gap is the time of its last row.
    const span = { fromMs: Math.max(fromMs, gap.fromMs), toMs: Math.min(toMs, gap.toMs + 1) };
    const last = spans.at(-1);
    if (span.fromMs >= span.toMs) continue;
    if (last !== undefined && span.fromMs <= last.toMs) last.toMs = Math.max(last.toMs, span.toMs);
    else spans.push(span);
  }
  while (spans.length > MAX_SPANS) {
    const betweenMs = spans.slice(1).map((span, nth) => span.fromMs - (spans[nth]?.toMs ?? 0));
    const nth = betweenMs.indexOf(Math.min(...betweenMs));
    const [one, other] = spans.slice(nth, nth + 2);
    if (one === undefined || other === undefined) break;
    spans.splice(nth, 2, { fromMs: one.fromMs, toMs: other.toMs });
  }
  return spans;
}
