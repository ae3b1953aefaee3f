import type { Column } from '../report.ts';
import { tenths } from '../report.ts';
import { onceFor, PERIOD_START, totalsReport } from '../totals.ts';
import { DEFAULT_WORK_HOURS, readWorkHours, workCalendarOf } from './work-hours.ts';

const calendar = onceFor(({ fromMs, toMs, timeZone, period, workHours }) =>
  workCalendarOf(fromMs, toMs, timeZone, period, readWorkHours(workHours ?? DEFAULT_WORK_HOURS)),
);

const MEASURES = [
  { name: 'Trips', type: 'whole', about: 'Number of trips that began in these hours.' },
  {
    name: 'DistanceM',
    type: 'number',
    about: 'Distance driven in these hours. A trip that is partly outside of them is divided by its positions.',
  },
  { name: 'TripSeconds', type: 'number', about: 'Time on trips in these hours, in seconds.' },
  { name: 'EngineOnSeconds', type: 'number', about: 'Time with the ignition on in these hours, in seconds.' },
] as const;
function columnsOf(part: 'inside' | 'outside'): Column[] {
  return MEASURES.map(({ name, type, about }) => ({ name: `${part}${name}`, type, always: true, total: 'sum', about }));
}

/** Whether vehicles are used when they should be. */
export const workTimeReport = totalsReport(
  {
    name: 'work-time',
    summary: 'Use of vehicles within working hours (`inside`) and outside of them (`outside`).',
    description:
      'A row for each vehicle and period. Working hours are in local time of the time zone, even on days with a clock change. The part of a night shift after midnight counts for the next day. Periods in which a vehicle was not used are left out.',
    parameters: { period: 'day', workHours: true },
    charts: [
      { shape: 'bars', measure: 'outsideDistanceM', by: 'vehicle' },
      { shape: 'bars', measure: 'outsideDistanceM', by: 'day' },
    ],
  },
  [PERIOD_START, ...columnsOf('inside'), ...columnsOf('outside')],
  ['trip', 'ignition'],
  (question) => {
    const { cuts, places, days } = calendar(question);
    return { cuts, places, sharesTrips: true, placesCount: days.length };
  },
  (_, place, question, at) => {
    const values = [at(place * 2 + 1), at(place * 2)].flatMap((totals) => [
      totals.count('trip'),
      tenths(totals.distanceM),
      totals.seconds('trip'),
      totals.seconds('ignition'),
    ]);
    return values.every((value) => value === 0) ? null : [calendar(question).days[place] ?? '', ...values];
  },
);
