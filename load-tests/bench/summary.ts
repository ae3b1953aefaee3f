import { percentile } from './measure.ts';
import type { Figure, Goal, Table } from './section.ts';
import { asText } from './table.ts';

/** A figure of several runs. */
export interface Summary {
  section: string;
  what: string;
  unit: string;
  goal: Goal | null;
  /** Of the runs; null where none could measure it. */
  median: number | null;
  least: number | null;
  most: number | null;
  /** Runs that measured it. */
  runs: number;
  bare: number | null;
  /** Median of the runs' own ratios: the machine is the same within a run, not from run to run. */
  ofBare: number | null;
  /** Null where there is no goal, or nothing was measured. */
  isMet: boolean | null;
}

/**
 * The middle value, or the mean of the two in the middle.
 *
 * @throws {RangeError} when there are no values
 */
export function median(values: readonly number[]): number {
  return (
    (percentile(values, 0.5) -
      percentile(
        values.map((value) => -value),
        0.5,
      )) /
    2
  );
}

/**
 * The figures of several runs of one section, in the order of the first.
 *
 * @param runs the figures of each run
 */
export function summarise(section: string, runs: readonly (readonly Figure[])[]): Summary[] {
  const whats = [...new Set(runs.flat().map(({ what }) => what))];
  return whats.map((what): Summary => {
    const figures = runs.flat().filter((each) => each.what === what);
    const values = known(figures.map(({ value }) => value));
    const bares = known(figures.map(({ bare }) => bare));
    const ratios = known(figures.map(({ value, bare }) => (value === null || !bare ? null : value / bare)));
    const { unit = '', goal = null } = figures[0] ?? {};
    const middle = values.length === 0 ? null : median(values);
    return {
      section,
      what,
      unit,
      goal,
      median: middle,
      least: values.length === 0 ? null : Math.min(...values),
      most: values.length === 0 ? null : Math.max(...values),
      runs: values.length,
      bare: bares.length === 0 ? null : median(bares),
      ofBare: ratios.length === 0 ? null : median(ratios),
      isMet: middle === null || goal === null ? null : meets(middle, goal),
    };
  });
}

function known(values: readonly (number | null)[]): number[] {
  return values.filter((value) => value !== null);
}

function meets(value: number, goal: Goal): boolean {
  return 'atMost' in goal ? value <= goal.atMost : value >= goal.atLeast;
}

/** A row for each figure: medians, the least and the most of all runs, the bare cost beside it, and the goal. */
export function summaryTable(title: string, summaries: readonly Summary[]): Table {
  return {
    title,
    columns: ['section', 'what', 'median', 'spread', 'unit', 'bare', 'of bare', 'goal', 'met'],
    rows: summaries.map(({ section, what, median: middle, least, most, unit, bare, ofBare, goal, isMet }) => [
      section,
      what,
      shown(middle),
      least === null || most === null ? '–' : `${asText(least)} – ${asText(most)}`,
      unit,
      shown(bare),
      shown(ofBare),
      goal === null ? '–' : 'atMost' in goal ? `≤ ${asText(goal.atMost)}` : `≥ ${asText(goal.atLeast)}`,
      isMet === null ? '–' : isMet ? 'yes' : 'no',
    ]),
  };
}

function shown(value: number | null): string {
  return asText(value);
}
