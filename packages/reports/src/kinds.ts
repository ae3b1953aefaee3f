import { currentStateReport } from './kinds/current-state.ts';
import { driversReport } from './kinds/drivers.ts';
import { ecoDrivingReport } from './kinds/eco-driving.ts';
import { eventsReport, speedingReport, stopsReport, tripsReport } from './kinds/event-lists.ts';
import { fleetDigestReport } from './kinds/fleet-digest.ts';
import { fuelReport, refuellingsReport } from './kinds/fuel.ts';
import { matrixReport } from './kinds/geofence-matrix.ts';
import { idlingReport } from './kinds/idling.ts';
import { maintenanceReport } from './kinds/maintenance.ts';
import { sensorSeriesReport, sensorsReport } from './kinds/sensors.ts';
import { violationsReport } from './kinds/violations.ts';
import { visitsReport } from './kinds/visits.ts';
import { workTimeReport } from './kinds/work-time.ts';
import type { ReportKind } from './report.ts';
import { engineHoursReport, mileageReport, summaryReport, utilisationReport } from './totals.ts';
import { trackReport } from './tracks.ts';

/** Every kind of report, in the order of the documentation. */
export const REPORT_KINDS: readonly ReportKind[] = [
  trackReport,
  tripsReport,
  stopsReport,
  mileageReport,
  engineHoursReport,
  speedingReport,
  visitsReport,
  matrixReport,
  eventsReport,
  summaryReport,
  currentStateReport,
  utilisationReport,
  idlingReport,
  fuelReport,
  refuellingsReport,
  maintenanceReport,
  sensorsReport,
  sensorSeriesReport,
  workTimeReport,
  violationsReport,
  ecoDrivingReport,
  driversReport,
  fleetDigestReport,
];

export function reportKind(named: string): ReportKind | undefined {
  return REPORT_KINDS.find(({ name }) => name === named);
}
