import { currentStateReport } from './current-state.ts';
import { driversReport } from './drivers.ts';
import { ecoDrivingReport } from './eco-driving.ts';
import { eventsReport, speedingReport, stopsReport, tripsReport } from './event-lists.ts';
import { fleetDigestReport } from './fleet-digest.ts';
import { fuelReport, refuellingsReport } from './fuel.ts';
import { matrixReport } from './geofence-matrix.ts';
import { idlingReport } from './idling.ts';
import { maintenanceReport } from './maintenance.ts';
import type { ReportKind } from './report.ts';
import { sensorSeriesReport, sensorsReport } from './sensors.ts';
import { engineHoursReport, mileageReport, summaryReport, utilisationReport } from './totals.ts';
import { trackReport } from './tracks.ts';
import { violationsReport } from './violations.ts';
import { visitsReport } from './visits.ts';
import { workTimeReport } from './work-time.ts';

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
