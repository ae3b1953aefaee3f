import { currentStateReport } from './current-state.ts';
import { eventsReport, speedingReport, stopsReport, tripsReport } from './event-lists.ts';
import { idlingReport } from './idling.ts';
import type { ReportKind } from './report.ts';
import { mileageReport, summaryReport, utilisationReport } from './totals.ts';
import { trackReport } from './tracks.ts';
import { visitsReport } from './visits.ts';

/** Every kind of report, in the order of the documentation. */
export const REPORT_KINDS: readonly ReportKind[] = [
  trackReport,
  tripsReport,
  stopsReport,
  mileageReport,
  speedingReport,
  visitsReport,
  eventsReport,
  summaryReport,
  currentStateReport,
  utilisationReport,
  idlingReport,
];

export function reportKind(named: string): ReportKind | undefined {
  return REPORT_KINDS.find(({ name }) => name === named);
}
