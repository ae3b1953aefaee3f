/** Words by the names that the API has for things: a name without a word is shown itself. */
export type Named = Readonly<Record<string, string>>;

/** What people call the things that the API names: in the console, in reports for reading, in messages. */
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
  /** What stands in columns whose values are of a closed list. */
  values: Named;
}
