/*
 * Views for people with SQL tools of their own: one row for each occurrence, with units in the column names, and
 * without rows that a replay or a correction replaced. Their columns are promised in docs/analysts.md.
 */

import { IS_GOOD } from './positions/reading.ts';

const PLACE = 'latitude_e7 / 1e7 AS latitude, longitude_e7 / 1e7 AS longitude';
const START = 'start_latitude_e7 / 1e7 AS start_latitude, start_longitude_e7 / 1e7 AS start_longitude';
const LASTED = "dateDiff('second', started_at, ended_at) AS duration_seconds";

function viewOfEvents(name: string, kinds: readonly string[], columns: string): string {
  return `CREATE OR REPLACE VIEW analyst_${name} AS
SELECT vehicle_id, id AS event_id, ${columns}
FROM events FINAL WHERE kind IN (${kinds.map((kind) => `'${kind}'`).join(', ')}) AND phase != 'removed'`;
}

/** Statements that make the views; each may be run again. */
export const ANALYST_VIEWS: readonly string[] = [
  `CREATE OR REPLACE VIEW analyst_positions AS
SELECT vehicle_id, fix_time, ${PLACE}, valid, speed_kmh_x10 / 10 AS speed_kmh, course_deg, altitude_m, satellites, ignition,
  odometer_m, supply_v_x1000 / 1000 AS supply_v, fuel_l_x10 / 10 AS fuel_l, alarms, attributes, terminal_id, protocol, received_at
FROM positions FINAL WHERE ${IS_GOOD}`,
  viewOfEvents(
    'trips',
    ['trip'],
    `started_at, ended_at, ${LASTED}, ${START},
  latitude_e7 / 1e7 AS end_latitude, longitude_e7 / 1e7 AS end_longitude, distance_m, moving_ms / 1000 AS moving_seconds,
  idling_ms / 1000 AS idling_seconds, peak_kmh AS max_kmh, mean_kmh, end_reason`,
  ),
  viewOfEvents(
    'stops',
    ['parking', 'idling'],
    `kind, started_at, ended_at, ${LASTED}, ${PLACE}, idling_ms / 1000 AS idling_seconds, end_reason, ${START}`,
  ),
  viewOfEvents(
    'speeding',
    ['speeding'],
    `started_at, ended_at, ${LASTED}, ${PLACE}, limit_kmh, limit_source, geofence_id, peak_kmh, mean_kmh, distance_m, end_reason, ${START}`,
  ),
  viewOfEvents(
    'geofence_visits',
    ['geofence-visit'],
    `geofence_id, started_at, ended_at, ${LASTED}, inferred, end_reason, ${START}, ${PLACE}`,
  ),
  `CREATE OR REPLACE VIEW analyst_events AS
SELECT vehicle_id, id AS event_id, kind, started_at, ended_at, ${LASTED}, ${PLACE}, geofence_id, alarm, distance_m, end_reason, ${START}
FROM events FINAL WHERE phase != 'removed'`,
];
