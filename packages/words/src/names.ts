/** Words by names of the API. A name without a word is shown itself. */
export type Named = Readonly<Record<string, string>>;

/** Words for things that the API names: for the console, for reports that people read, and for messages. */
export interface Names {
  /** States of a vehicle. */
  states: Named & Readonly<Record<'moving' | 'parking' | 'idling' | 'offline' | 'unknown', string>>;
  /** Kinds of event. */
  events: Named;
  /** Alarms that terminals raise. */
  alarms: Named;
  /** Kinds of report. */
  reports: Named;
  /** Columns of reports. */
  columns: Named;
  /** Values of columns that have a closed list of values. */
  values: Named;
}
