/** Words of custom counters; they come with the dialog, not with the first load. */
export const counters = {
  newTitle: 'New counter',
  change: 'Change counter',
  sources: {
    manual: 'Readings by people',
    'sensor-total': 'The total that a sensor shows',
    'sensor-hours': 'Hours that a sensor is on',
  },
  source: 'Counted by',
  sourceHint: 'When this is changed, what was counted stays.',
  sensor: 'Sensor',
  sensorGone: 'a sensor that was deleted',
  noSensor: 'The vehicle has no sensor for this: add one first.',
  unit: 'Unit',
  startsAt: 'Counts from',
  startsAtHint: 'Empty: from now on. An earlier time counts what is stored since then.',
  saved: 'The counter was saved.',
  deleted: 'The counter was deleted.',
  remove: (name: string) => `Delete “${name}”? Its corrections are deleted with it.`,
  planCounter: 'Custom counter',
  planCounterHint: 'By its name: each vehicle that has a counter of this name goes by it.',
  planAmount: 'By the counter',
};

export type CounterWords = typeof counters;
