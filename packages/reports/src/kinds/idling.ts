import { seconds } from '../report.ts';
import { byPeriod, dayOf, PERIOD_START, totalsReport } from '../totals.ts';

/** Engines that run while the vehicle stands: fuel and wear that a fleet can save. */
export const idlingReport = totalsReport(
  {
    name: 'idling',
    summary: 'Time for which vehicles stood with the ignition on.',
    description:
      'A row for each vehicle and period. Idling on trips and between them counts. A vehicle whose terminal does not send the ignition has no idling.',
    parameters: { period: 'whole' },
  },
  [
    PERIOD_START,
    {
      name: 'idlingSeconds',
      type: 'number',
      always: true,
      total: 'sum',
      about: 'Time at a standstill with the ignition on, in seconds, on trips and between them.',
    },
    {
      name: 'tripIdlingSeconds',
      type: 'number',
      always: true,
      total: 'sum',
      about: 'The part of `idlingSeconds` on trips, such as at traffic lights.',
    },
    {
      name: 'idlings',
      type: 'whole',
      always: true,
      total: 'sum',
      about: 'Number of stops with the ignition on, between trips, that began in the period.',
    },
    {
      name: 'engineOnSeconds',
      type: 'number',
      always: true,
      total: 'sum',
      about: 'Time with the ignition on, in seconds.',
    },
    {
      name: 'share',
      type: 'number',
      about: '`idlingSeconds` as a fraction of `engineOnSeconds`: 0 to 1. Null if the ignition was never on.',
    },
  ],
  ['trip', 'idling', 'ignition'],
  byPeriod,
  (totals, place, question) => {
    const tripIdlingSeconds = seconds(totals.tripIdlingMs);
    const idlingSeconds = tripIdlingSeconds + totals.seconds('idling');
    const engineOnSeconds = totals.seconds('ignition');
    const share = Math.min(1, Math.round((idlingSeconds / engineOnSeconds) * 10_000) / 10_000);
    return [
      dayOf(question, place),
      idlingSeconds,
      tripIdlingSeconds,
      totals.count('idling'),
      engineOnSeconds,
      engineOnSeconds === 0 ? null : share,
    ];
  },
);
