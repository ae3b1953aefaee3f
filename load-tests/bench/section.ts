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
   * @param say tells how far it is; one short line
   * @param quick measures a tenth: to see that it works, not to know how fast it is
   */
  run(say: (progress: string) => void, quick: boolean): Promise<SectionReport>;
}

/** A module in `sections/` exports one under this name. */
export interface SectionModule {
  section: Section;
}
