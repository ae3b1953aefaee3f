import { seconds } from '../report.ts';
import { byPeriod, dayOf, PERIOD_START, totalsReport } from '../totals.ts';

/** Engines that run while the vehicle stands: fuel and wear that a fleet can save. */
export const idlingReport = totalsReport(
  {
    name: 'idling',
    summary: 'How long vehicles stood with the ignition on.',
    description:
      'A row for each vehicle and period, on trips and between them. A vehicle whose terminal does not send the ignition has no idling.',
    parameters: { period: 'whole' },
  },
  [
    PERIOD_START,
    { name: 'idlingSeconds', type: 'number', always: true, total: 'sum', about: 'On trips and between.' },
    {
      name: 'tripIdlingSeconds',
      type: 'number',
      always: true,
      total: 'sum',
      about: 'The part of it on trips, such as at lights.',
    },
    {
      name: 'idlings',
      type: 'whole',
      always: true,
      total: 'sum',
      about: 'Stops between trips with the ignition on that began in it.',
    },
    { name: 'engineOnSeconds', type: 'number', always: true, total: 'sum', about: 'The ignition was on.' },
    {
      name: 'share',
      type: 'number',
      about: '`idlingSeconds` as a part of `engineOnSeconds`: 0 to 1. Null where the ignition was never on.',
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
