import { namesIn } from '@outrider/words';
import type { GroupTotals } from '../../kinds/groups.ts';
import type { ReportKind } from '../../report.ts';
import type { Reading } from '../format.ts';
import { Readable } from './readable.ts';
import { totalTitle, WORDS, type Words } from './words.ts';

/** Summary for the reader: a line for each column with a total, and a line for each span of missing rows. */
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

/** A line for each time span of which rows are missing. */
export function incompleteLines({ incomplete }: Reading, readable: Readable, words: Words): string[] {
  return incomplete.map(({ fromMs, toMs }) => words.incomplete(readable.time(fromMs), readable.time(toMs)));
}
