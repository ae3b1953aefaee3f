import { type Column, seconds, tenths } from '../report.ts';
import { byPeriod, dayOf, PERIOD_START, totalsReport } from '../totals.ts';
import { END_REASON, eventList, LASTED, lasted, PLACE, PLACES, places } from './event-lists.ts';

/** Fuel that vehicles used, and that was filled into or taken out of their tanks. */
export const fuelReport = totalsReport(
  {
    name: 'fuel',
    summary: 'What vehicles used of fuel, and what was filled in and drained.',
    description:
      'A row for each vehicle and period. Fuel is what trips, and stops with the ignition on, used: by the counter of the engine where there is a sensor of kind `fuel-used`, else the level at the start, and what was filled in, less what was drained, less the level at the end. A trip counts in the period that it began in.',
    parameters: { period: 'day' },
    charts: [{ shape: 'bars', measure: 'fuelUsedL', by: 'vehicle' }],
  },
  [
    PERIOD_START,
    { name: 'fuelUsedL', type: 'number', always: true, total: 'sum' },
    { name: 'distanceM', type: 'number', always: true, total: 'sum', about: 'Of the trips whose fuel is known.' },
    { name: 'litresPer100Km', type: 'number', about: 'Null where the vehicle did not drive.' },
    {
      name: 'engineSeconds',
      type: 'number',
      always: true,
      total: 'sum',
      about: 'The engine ran, on trips and stops whose fuel is known.',
    },
    { name: 'litresPerHour', type: 'number', about: 'Null where the engine did not run.' },
    { name: 'refuellings', type: 'whole', always: true, total: 'sum', about: 'That began in it, as drains.' },
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
    summary: 'Refuellings and fuel drains.',
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
      about: 'Of a refuelling: what came; while it lasts, up to now.',
    },
    { name: 'drainedL', type: 'number', total: 'sum', about: 'Of a drain: what went, beside what the engine burnt.' },
    { name: 'levelBeforeL', type: 'number', always: true },
    { name: 'levelAfterL', type: 'number', always: true },
    { name: 'whileMoving', type: 'flag', always: true, about: 'The vehicle was on its way when it began.' },
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
