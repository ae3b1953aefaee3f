/** Words of custom counters; they come with the dialog, not with the first load. */
export const counters = {
  newTitle: 'New counter',
  change: 'Change counter',
  sources: {
    manual: 'Manual readings',
    'sensor-total': 'The total that a sensor shows',
    'sensor-hours': 'Hours that a sensor is on',
  },
  source: 'Counted by',
  sourceHint: 'If you change this, the count so far is kept.',
  sensor: 'Sensor',
  sensorGone: 'a sensor that was deleted',
  noSensor: 'The vehicle has no sensor for this. Add one first.',
  unit: 'Unit',
  startsAt: 'Counts from',
  startsAtHint: 'Leave empty to start now. With an earlier time, data stored since then is counted.',
  saved: 'The counter was saved.',
  deleted: 'The counter was deleted.',
  remove: (name: string) => `Delete “${name}”? Its corrections are deleted with it.`,
  planCounter: 'Custom counter',
  planCounterHint: 'Identified by name: applies to each vehicle that has a counter with this name.',
  planAmount: 'By the counter',
};

export type CounterWords = typeof counters;
