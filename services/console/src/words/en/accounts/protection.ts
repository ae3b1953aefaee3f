export const protection = {
  title: 'Data protection',
  export: 'Export the data',
  exportMine: 'Export my data',
  exportHint: 'Everything the service holds about this person, as one JSON file. It is kept for a few days.',
  exporting: 'The file is being made',
  exportFailed: 'The file was not made',
  save: 'Save the file',
  again: 'Make it anew',
  retentionDays: 'Keep history for (days)',
  retentionHint:
    'Older positions, events, videos and notifications of its vehicles are erased for good, once a day. Empty: no limit. Of several groups and the fleet the shortest counts.',
  fleetDays: 'Keep history of the fleet for (days)',
  fleetHint:
    'Older positions, events, videos and notifications of all vehicles of this dealer are erased for good, once a day. Empty: no limit. Where a group of a vehicle keeps it shorter, the group counts.',
  operatorFleetHint:
    'Older positions, events, videos and notifications of all vehicles that no dealer has are erased for good, once a day. It is the same for all operators. Empty: no limit. Where a group of a vehicle keeps it shorter, the group counts.',
  saveFleetDays: 'Save retention',
  fleetDaysSaved: 'Retention saved',
  erase: 'Erase history',
  eraseHint: 'Positions, events, videos and notifications from before this day go for good. Counters stay as they are.',
  before: 'Before',
  count: 'Count',
  counted: (positions: string, events: string, videos: string, notifications: string) =>
    `${positions} positions, ${events} events, ${videos} videos, ${notifications} notifications`,
  nothing: 'There is nothing from before this day.',
  eraseQuestion: (day: string) => `Erase everything from before ${day}? It can’t be undone.`,
  historyFrom: (time: string) => `What was before ${time} is erased of at least one of these vehicles.`,
  incomplete: (from: string, to: string) => `Data from ${from} to ${to} was lost: what is shown of it is incomplete.`,
};
