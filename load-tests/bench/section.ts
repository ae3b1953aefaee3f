/** A table to be printed. Numbers are shown with separators, `null` as a dash. */
export interface Table {
  title: string;
  columns: readonly string[];
  rows: readonly (readonly (string | number | null)[])[];
}

/** What a section found out: for people, and for machines. */
export interface SectionReport {
  tables: Table[];
  /** Goes into the JSON under the section's name. */
  result: unknown;
}

/** One thing that is measured, in a process of its own. */
export interface Section {
  /** One line: what it measures. */
  about: string;
  /**
   * @param say prints the progress; one short line
   * @param quick measures a tenth: a check that it works, not a measurement
   */
  run(say: (progress: string) => void, quick: boolean): Promise<SectionReport>;
}

/** A module in `sections/` exports one under this name. */
export interface SectionModule {
  section: Section;
}
