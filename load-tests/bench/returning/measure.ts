import type { Log } from '@outrider/log';
import {
  benchReturning,
  type ReturningCase,
  type ReturningRow,
} from '../../../services/notifier/src/live/returning.bench.ts';
import { type Figure, figure, type SectionReport } from '../section.ts';

const CASE: ReturningCase = { clients: 1000, fleets: 50, vehiclesPerFleet: 40, events: 100 };
const FROM = { memory: 'memory', log: 'the log', bare: 'bare WebSockets' } as const;

/** @param openLog opens a new, empty log */
export async function measureReturning(
  where: string,
  openLog: (folder: string) => Promise<Log>,
  say: (progress: string) => void,
  quick: boolean,
): Promise<SectionReport<ReturningRow[]>> {
  const one = quick ? { ...CASE, clients: 100, fleets: 5 } : CASE;
  const { clients, events, fleets, vehiclesPerFleet } = one;
  say(`${clients.toLocaleString('en-US')} clients return, each of whom missed ${events} events`);
  const rows = await benchReturning(one, openLog);
  return {
    result: rows,
    tables: [
      {
        title: `${clients.toLocaleString('en-US')} live clients return at once on ${where}: ms until they miss nothing (${events} events each, ${fleets} fleets of ${vehiclesPerFleet} vehicles)`,
        columns: ['what they missed comes from', 'p50', 'p99', 'of bare', 'processor time'],
        rows: rows.map(({ from, p50Ms, p99Ms, ratio, cpuMs }) => [
          FROM[from],
          Math.round(p50Ms),
          Math.round(p99Ms),
          ratio,
          Math.round(cpuMs),
        ]),
      },
    ],
  };
}

export function returningFigures(rows: readonly ReturningRow[]): Figure[] {
  const bare = rows.find(({ from }) => from === 'bare')?.p99Ms;
  return rows
    .filter(({ from }) => from !== 'bare')
    .map(({ from, clients, p99Ms }) =>
      figure(`${clients} clients miss nothing, from ${FROM[from]}, p99`, 'ms', p99Ms, { bare }),
    );
}
