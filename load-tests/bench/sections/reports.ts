import { NOTHING_KEPT, type ReportsBenchResult, reportsBench } from '../../../packages/warehouse/src/reports.bench.ts';
import { defineSection, figure } from '../section.ts';

/** What reports cost on the month of a fleet: from a tenth of the table to all of it, beside a scan of every row. */
export const section = defineSection({
  about: 'reports on 100 million positions; takes a quarter of an hour',
  bare: 'the same with nothing kept of trips over midnight',
  async run(say, quick) {
    const positions = quick ? 5_000_000 : 100_000_000;
    const result = await reportsBench({ positions, runs: quick ? 5 : 20, say });
    return { result, tables: [times(result), costs(result)] };
  },
  figures: ({ tables }) => {
    const questions = tables.at(-1)?.questions ?? [];
    const ofFleet = (name: string) =>
      questions.find(({ question }) => question.startsWith(`${name}, `) && question.endsWith("vehicles' month"))?.cpuMs;
    return [
      ...questions.map(({ question, p50Ms }) =>
        figure(`${question}, p50`, 'ms', p50Ms, question === 'track, a day' ? { goal: { atMost: 30 } } : {}),
      ),
      figure("mileage of the fleet's month", 'CPU ms', ofFleet('mileage'), {
        bare: ofFleet(NOTHING_KEPT),
        goal: { atMost: 500 },
      }),
    ];
  },
});

function times({ tables }: ReportsBenchResult) {
  const [small, large] = tables;
  const named = new Map(small?.questions.map((each) => [each.question.replace(/\d+ (?=vehicles)/, ''), each]));
  return {
    title: `Reports on ${small?.positions.toLocaleString('en-US')} and on ${large?.positions.toLocaleString('en-US')} positions, milliseconds`,
    columns: ['question', 'p50, a tenth', 'p50', 'p95', 'processor', 'rows read'],
    rows: (large?.questions ?? []).map(({ question, p50Ms, p95Ms, cpuMs, rowsRead }): (string | number | null)[] => [
      question,
      named.get(question.replace(/\d+ (?=vehicles)/, ''))?.p50Ms ?? null,
      p50Ms,
      p95Ms,
      cpuMs,
      rowsRead,
    ]),
  };
}

function costs({ bytesPerPosition, generateSeconds, beside }: ReportsBenchResult) {
  return {
    title: 'What else there is to know',
    columns: ['what', 'value'],
    rows: [
      ['bytes a position on the disk, all columns', bytesPerPosition],
      ['seconds to make the table', generateSeconds],
      ["a vehicle's day (a page of its track), ms", beside.dayAloneMs],
      ['the same while a report runs for minutes, ms', beside.dayBesideMs],
      ['an insert, ms', beside.insertAloneMs],
      ['the same while a report runs for minutes, ms', beside.insertBesideMs],
    ] as [string, number][],
  };
}
