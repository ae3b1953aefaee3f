import type { Fault, Kind } from './plan.ts';

/** What is known of a round when it is over. */
export interface RoundResult {
  /**
   * How long each fault's place took, from the end of the fault, until it was ready again. Null: it was not found so.
   */
  recoveries: readonly { fault: Fault; seconds: number | null }[];
  /** From the end of the last fault until all was as promised. */
  caughtUpSeconds: number | null;
}

/** A line for each kind of fault: how often, at how many places, and the longest that anything took after it. */
export function faultTable(kinds: readonly Kind[], rounds: readonly RoundResult[]): string {
  const rows = kinds.map((kind) => {
    const of = rounds.flatMap(({ recoveries, caughtUpSeconds }) =>
      recoveries.filter(({ fault }) => fault.kind === kind).map((each) => ({ ...each, caughtUpSeconds })),
    );
    return [
      kind,
      String(of.length),
      String(new Set(of.map(({ fault }) => fault.place)).size),
      longest(of.map(({ seconds }) => seconds)),
      longest(of.map(({ caughtUpSeconds }) => caughtUpSeconds)),
    ];
  });
  const head = ['fault', 'rounds', 'places', 'longest until ready again', 'longest until all caught up'];
  const widths = head.map((title, at) => Math.max(title.length, ...rows.map((row) => (row[at] ?? '').length)));
  return [head, ...rows]
    .map((row) => row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))))
    .map((cells) => cells.join('   ').trimEnd())
    .join('\n');
}

function longest(seconds: readonly (number | null)[]): string {
  if (seconds.length === 0) return '-';
  return seconds.includes(null) ? 'never' : `${Math.max(...seconds.map(Number)).toFixed(1)} s`;
}
