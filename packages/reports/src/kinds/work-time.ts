import type { Column } from '../report.ts';
import { tenths } from '../report.ts';
import { onceFor, PERIOD_START, totalsReport } from '../totals.ts';
import { DEFAULT_WORK_HOURS, readWorkHours, workCalendarOf } from './work-hours.ts';

const calendar = onceFor(({ fromMs, toMs, timeZone, period, workHours }) =>
  workCalendarOf(fromMs, toMs, timeZone, period, readWorkHours(workHours ?? DEFAULT_WORK_HOURS)),
);

const MEASURES = [
  { name: 'Trips', type: 'whole', about: 'That began in it.' },
  { name: 'DistanceM', type: 'number', about: 'As far as its positions show, where a trip goes on over the bound.' },
  { name: 'TripSeconds', type: 'number', about: 'On trips.' },
  { name: 'EngineOnSeconds', type: 'number', about: 'The ignition was on.' },
] as const;
function columnsOf(part: 'inside' | 'outside'): Column[] {
  return MEASURES.map(({ name, type, about }) => ({ name: `${part}${name}`, type, always: true, total: 'sum', about }));
}

/** Whether vehicles are used when they should be. */
export const workTimeReport = totalsReport(
  {
    name: 'work-time',
    summary: 'What vehicles do within working hours and outside of them.',
    description:
      'Hours are those of the clock on the wall of the time zone, on days when the clocks change too. What of a night shift lies behind midnight counts on the next day. Periods in which a vehicle did nothing are left out.',
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
