import type { VehicleId } from '@outrider/domain';
import type { Column, ReportKind, Row } from '../report.ts';
import { seconds, tenths } from '../report.ts';
import { byPeriod, totalsReport } from '../totals.ts';

/** Maximum age of places: older ones say nothing about a day. */
const LAST_MS = 31 * 86_400_000;

const LAST: readonly Column[] = [
  {
    name: 'lastFixAt',
    type: 'time',
    about: 'Time of the last fix before the end of the time range, at most 31 days before it.',
  },
  { name: 'lastLatitude', type: 'number' },
  { name: 'lastLongitude', type: 'number' },
  { name: 'lastPlace', type: 'text', about: 'Name of the place: a geozone, an address, or the nearest town.' },
];

const totals = totalsReport(
  {
    name: 'fleet-digest',
    summary: 'Overview of the fleet: distance, hours, stops, violations and last place of each vehicle.',
    description: 'A row for each vehicle, including those without any activity. Intended for a daily schedule as PDF.',
    charts: [
      { shape: 'bars', measure: 'distanceM', by: 'vehicle' },
      { shape: 'bars', measure: 'engineOnSeconds', by: 'vehicle' },
    ],
  },
  [
    { name: 'distanceM', type: 'number', always: true, total: 'sum' },
    { name: 'tripSeconds', type: 'number', always: true, total: 'sum', about: 'Time on trips, in seconds.' },
    {
      name: 'engineOnSeconds',
      type: 'number',
      always: true,
      total: 'sum',
      about: 'Time with the ignition on, in seconds.',
    },
    {
      name: 'idlingSeconds',
      type: 'number',
      always: true,
      total: 'sum',
      about: 'Time at a standstill with the ignition on, in seconds, on trips and between them.',
    },
    { name: 'offlineSeconds', type: 'number', always: true, total: 'sum' },
    {
      name: 'trips',
      type: 'whole',
      always: true,
      total: 'sum',
      about: 'Number of trips that began in the time range. The other numbers also count what began in it.',
    },
    { name: 'stops', type: 'whole', always: true, total: 'sum' },
    { name: 'maxKmh', type: 'number', total: 'max' },
    { name: 'speedings', type: 'whole', always: true, total: 'sum' },
    { name: 'alarms', type: 'whole', always: true, total: 'sum' },
    { name: 'powerCuts', type: 'whole', always: true, total: 'sum' },
  ],
  ['trip', 'parking', 'idling', 'ignition', 'offline', 'speeding', 'alarm', 'power-cut'],
  (question) => byPeriod({ ...question, period: 'whole' }),
  (all) => [
    tenths(all.distanceM),
    all.seconds('trip'),
    all.seconds('ignition'),
    seconds(all.tripIdlingMs) + all.seconds('idling'),
    all.seconds('offline'),
    all.count('trip'),
    all.count('parking', 'idling'),
    all.maxKmh,
    all.count('speeding'),
    all.count('alarm'),
    all.count('power-cut'),
  ],
);

export const fleetDigestReport: ReportKind = {
  ...totals,
  columns: [...totals.columns, ...LAST],
  async page(sources, question, after, limit) {
    const page = await totals.page(sources, question, after, limit);
    const vehicleIds = page.rows.map(([id]) => id as VehicleId);
    if (vehicleIds.length === 0) return page;
    const { toMs, signal } = question;
    const about = { vehicleIds, fromMs: toMs - LAST_MS, beforeMs: toMs, count: 1, queue: 'report', signal } as const;
    const fixes = new Map((await sources.archive.fixesBefore(about)).map((fix) => [fix.vehicleId, fix]));
    const known = vehicleIds.flatMap((id) => fixes.get(id) ?? []);
    const places = await sources.placesOf(known);
    const placeOf = new Map(known.map(({ vehicleId }, nth) => [vehicleId, places[nth]?.text ?? null]));
    const rows = page.rows.map((row, nth): Row => {
      const id = vehicleIds[nth] as VehicleId;
      const fix = fixes.get(id);
      return [...row, fix?.fixTimeMs ?? null, fix?.latitude ?? null, fix?.longitude ?? null, placeOf.get(id) ?? null];
    });
    return { ...page, rows };
  },
};
