export const protection = {
  title: 'Data protection',
  export: 'Export the data',
  exportMine: 'Export my data',
  exportHint: 'Everything the service holds about this person, as one JSON file. It is kept for a few days.',
  exporting: 'The file is being created',
  exportFailed: 'The file could not be created',
  save: 'Save the file',
  again: 'Create it again',
  retentionDays: 'Keep history for (days)',
  retentionHint:
    'Older positions, events, videos and notifications of its vehicles are permanently deleted once a day. Leave empty for no limit. If several groups or the fleet have a limit, the shortest applies.',
  fleetDays: 'Keep history of the fleet for (days)',
  fleetHint:
    'Older positions, events, videos and notifications of all vehicles of this dealer are permanently deleted once a day. Leave empty for no limit. If a group of a vehicle has a shorter limit, that limit applies.',
  operatorFleetHint:
    'Older positions, events, videos and notifications of all vehicles without a dealer are permanently deleted once a day. The limit is the same for all operators. Leave empty for no limit. If a group of a vehicle has a shorter limit, that limit applies.',
  saveFleetDays: 'Save retention',
  fleetDaysSaved: 'Retention saved',
  erase: 'Erase history',
  eraseHint:
    'Positions, events, videos and notifications from before this day are permanently deleted. Counters do not change.',
  before: 'Before',
  count: 'Count',
  counted: (positions: string, events: string, videos: string, notifications: string) =>
    `${positions} positions, ${events} events, ${videos} videos, ${notifications} notifications`,
  nothing: 'There is nothing from before this day.',
  eraseQuestion: (day: string) => `Erase everything from before ${day}? This can’t be undone.`,
  historyFrom: (time: string) => `The history before ${time} was erased for at least one of these vehicles.`,
  incomplete: (from: string, to: string) =>
    `Data from ${from} to ${to} was lost. What is shown for this time is incomplete.`,
};
