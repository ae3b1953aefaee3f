import { type Column, seconds, tenths } from '../report.ts';
import { byPeriod, dayOf, PERIOD_START, totalsReport } from '../totals.ts';
import { END_REASON, eventList, LASTED, lasted, PLACE, PLACES, places } from './event-lists.ts';

/** Fuel that vehicles used, and that was filled into or taken out of their tanks. */
export const fuelReport = totalsReport(
  {
    name: 'fuel',
    summary: 'Fuel that vehicles used, and that was filled in or drained.',
    description:
      'A row for each vehicle and period. Fuel use is that of trips and of stops with the ignition on. If the vehicle has a sensor of kind `fuel-used`, its values are used. Otherwise, fuel use is the level at the start, plus the fuel filled in, minus the fuel drained, minus the level at the end. A trip or stop counts in the period in which it began.',
    parameters: { period: 'day' },
    charts: [{ shape: 'bars', measure: 'fuelUsedL', by: 'vehicle' }],
  },
  [
    PERIOD_START,
    { name: 'fuelUsedL', type: 'number', always: true, total: 'sum' },
    {
      name: 'distanceM',
      type: 'number',
      always: true,
      total: 'sum',
      about: 'Distance of the trips whose fuel use is known.',
    },
    {
      name: 'litresPer100Km',
      type: 'number',
      about: 'Mean consumption over `distanceM`. Null if that is less than 1 km.',
    },
    {
      name: 'engineSeconds',
      type: 'number',
      always: true,
      total: 'sum',
      about: 'Running time of the engine, in seconds, on trips and stops whose fuel use is known.',
    },
    {
      name: 'litresPerHour',
      type: 'number',
      about: 'Mean consumption over `engineSeconds`. Null if the engine did not run.',
    },
    {
      name: 'refuellings',
      type: 'whole',
      always: true,
      total: 'sum',
      about: 'Number of refuellings that began in the period; `drains` is counted likewise.',
    },
    { name: 'refuelledL', type: 'number', always: true, total: 'sum' },
    { name: 'drains', type: 'whole', always: true, total: 'sum' },
    { name: 'drainedL', type: 'number', always: true, total: 'sum' },
  ],
  ['trip', 'idling', 'refuelling', 'fuel-drain'],
  (question) => ({ ...byPeriod(question), withFuel: true }),
  (totals, place, question) => {
    const { usedL, distanceM, engineMs } = totals.fuel;
    const [refuellings, drains] = [totals.count('refuelling'), totals.count('fuel-drain')];
    if (engineMs === 0 && refuellings === 0 && drains === 0) return null;
    return [
      dayOf(question, place),
      tenths(usedL),
      tenths(distanceM),
      per100Km(usedL, distanceM),
      seconds(engineMs),
      engineMs === 0 ? null : tenths((usedL * 3_600_000) / engineMs),
      refuellings,
      tenths(totals.volumesL.refuelling ?? 0),
      drains,
      tenths(totals.volumesL['fuel-drain'] ?? 0),
    ];
  },
);

const LEAST_DISTANCE_M = 1000;

/** Litres per 100 km; null if the distance is too short for a meaningful value. */
export function per100Km(usedL: number, distanceM: number): number | null {
  return distanceM < LEAST_DISTANCE_M ? null : tenths((usedL * 100_000) / distanceM);
}

export const refuellingsReport = eventList(
  {
    name: 'refuellings',
    summary: 'Refuellings and fuel drains that overlap a time range.',
    charts: [{ shape: 'bars', measure: 'drainedL', by: 'vehicle' }],
  },
  () => ['refuelling', 'fuel-drain'],
  [
    { name: 'kind', type: 'text', values: ['refuelling', 'fuel-drain'], always: true },
    ...LASTED,
    ...PLACE,
    {
      name: 'refuelledL',
      type: 'number',
      total: 'sum',
      about: 'Litres added; only for `refuelling`. While the event is in progress, the volume up to now.',
    },
    {
      name: 'drainedL',
      type: 'number',
      total: 'sum',
      about: 'Litres lost in addition to the consumption of the engine; only for `fuel-drain`.',
    },
    { name: 'levelBeforeL', type: 'number', always: true },
    { name: 'levelAfterL', type: 'number', always: true },
    {
      name: 'whileMoving',
      type: 'flag',
      always: true,
      about: 'True if the vehicle was on a trip when the event began.',
    },
    END_REASON,
    ...PLACES,
  ] satisfies readonly Column[],
  (event, { untilMs }) =>
    event.kind === 'refuelling' || event.kind === 'fuel-drain'
      ? [
          event.kind,
          ...lasted(event, untilMs),
          event.latitude,
          event.longitude,
          event.kind === 'refuelling' ? tenths(event.volumeL) : null,
          event.kind === 'fuel-drain' ? tenths(event.volumeL) : null,
          tenths(event.levelBeforeL),
          tenths(event.levelAfterL),
          event.whileMoving,
          event.endReason,
          ...places(event),
        ]
      : null,
);
