import { parseArgs } from 'node:util';
import { chooseSections, FULL, HEADLINE, type SectionName, sectionNames } from './sections.ts';

export const USAGE = `npm run bench                      the headline table, in five minutes: ${HEADLINE.join(', ')}
npm run bench -- full              all sections at their full length; takes hours
npm run bench -- SECTION …         the named sections at their full length
npm run bench -- profile SECTION … where the named sections (pipeline) spend their time: CPU profiles by thread

Sections: ${sectionNames.join(', ')}. Of these, recalculation, reports, scale and
returning-kafka run only where they are named.

--runs N       runs of each section; default 3, of a profile 1
--quick        a tenth of each: to see that it works
--anyway       measures while others use the cores; the table says so
--json FILE    writes all results of all runs to FILE
--markdown     prints the table as docs/performance.md has it
--profiles DIR where profiles are written; default bench-profiles`;

export interface Options {
  names: readonly SectionName[];
  isQuick: boolean;
  runs: number;
  isAnyway: boolean;
  json: string | null;
  isMarkdown: boolean;
  /** Folder of CPU profiles; null: none are taken. */
  profiles: string | null;
  isHelp: boolean;
}

/** @throws {Error} saying which word or option is wrong */
export function readOptions(args: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      runs: { type: 'string' },
      quick: { type: 'boolean', default: false },
      anyway: { type: 'boolean', default: false },
      json: { type: 'string' },
      markdown: { type: 'boolean', default: false },
      profiles: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const [first, ...rest] = positionals;
  const isProfile = first === 'profile';
  const isFull = first === 'full';
  if (isFull && rest.length > 0) throw new Error(`full has all sections: ${rest.join(', ')} can't be named beside it`);
  if (values.profiles !== undefined && !isProfile) throw new Error('--profiles belongs to profile');
  const isHeadline = positionals.length === 0;
  const names = isHeadline
    ? HEADLINE
    : isFull
      ? FULL
      : chooseSections(isProfile ? (rest.length === 0 ? ['pipeline'] : rest) : positionals);
  return {
    names,
    isQuick: values.quick || isHeadline || isProfile,
    runs: runsOf(values.runs, isProfile),
    isAnyway: values.anyway,
    json: values.json ?? null,
    isMarkdown: values.markdown,
    profiles: isProfile ? (values.profiles ?? 'bench-profiles') : null,
    isHelp: values.help,
  };
}

function runsOf(text: string | undefined, isProfile: boolean): number {
  if (text === undefined) return isProfile ? 1 : 3;
  const runs = Number(text);
  if (!Number.isInteger(runs) || runs < 1) throw new Error(`--runs must be a whole number from 1 on, not ${text}`);
  return runs;
}
