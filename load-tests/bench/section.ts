/** A table to be printed. Numbers are shown with separators, `null` as a dash. */
export interface Table {
  title: string;
  columns: readonly string[];
  rows: readonly (readonly (string | number | null)[])[];
}

/** What a figure should be. */
export type Goal = { atMost: number } | { atLeast: number };

/** One number that a run measured. */
export interface Figure {
  /** What it is, with the size of what was measured: `cores at 300 positions/s`. The same in each run. */
  what: string;
  unit: string;
  goal: Goal | null;
  /** Null where it could not be measured here. */
  value: number | null;
  /** The section's bare cost at the same, of the same run; null where none belongs to this figure. */
  bare: number | null;
}

/** What one run of a section found out. */
export interface SectionReport<Result = unknown> {
  /** Everything, for people. */
  tables: Table[];
  /** The same for machines: goes into the JSON. */
  result: Result;
}

/** One thing that is measured, in a process of its own. */
export interface Section<Result> {
  /** One line: what it measures. */
  about: string;
  /** What each figure is put beside: the least that does the same. Null where nothing does. */
  bare: string | null;
  /**
   * @param say prints the progress; one short line
   * @param quick measures a tenth: for the headline table, which has several runs, and to see that it works
   */
  run(say: (progress: string) => void, quick: boolean): Promise<SectionReport<Result>>;
  /** What the summary of all runs has of this section. */
  figures(result: Result): Figure[];
}

/** A module in `sections/` exports one under this name. */
export interface SectionModule {
  section: Section<unknown>;
}

/** Declares a section; its `figures` are checked against what its `run` returns. */
export function defineSection<Result>(section: Section<Result>): Section<Result> {
  return section;
}

/** A figure whose name needs no more than its values. */
export function figure(
  what: string,
  unit: string,
  value: number | null | undefined,
  { bare = null, goal = null }: { bare?: number | null | undefined; goal?: Goal | null } = {},
): Figure {
  return { what, unit, goal, value: value ?? null, bare: bare ?? null };
}
