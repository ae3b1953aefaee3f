import { namesIn } from '@outrider/words';
import type { GroupTotals } from '../../kinds/groups.ts';
import type { ReportKind } from '../../report.ts';
import type { Reading } from '../format.ts';
import { Readable } from './readable.ts';
import { totalTitle, WORDS, type Words } from './words.ts';

/** What all rows come to, a line for each column that has a total, and what is missing, as its reader reads it. */
export async function summaryLines(
  { columns }: Pick<ReportKind, 'columns'>,
  { all }: GroupTotals,
  reading: Reading,
  timeZone: string,
): Promise<string[]> {
  const words = WORDS[reading.language];
  const readable = new Readable(reading, timeZone, await namesIn(reading.language), words);
  const totals = columns.flatMap((column, nth) => {
    const value = all.at(nth);
    return value === null ? [] : [`${totalTitle(column, readable, words)}: ${readable.quantity(column, value)}`];
  });
  return [...totals, ...incompleteLines(reading, readable, words)];
}

/** Of when rows are missing, a line for each span. */
export function incompleteLines({ incomplete }: Reading, readable: Readable, words: Words): string[] {
  return incomplete.map(({ fromMs, toMs }) => words.incomplete(readable.time(fromMs), readable.time(toMs)));
}
