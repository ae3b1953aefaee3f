import type { TerminalId, Vehicle } from '@outrider/domain';
import type { TerminalReport } from '@outrider/protocols';

/** A report with the form of its id that belongs to a vehicle, or else the first form. */
export interface Resolved extends TerminalReport {
  vehicle: Vehicle | undefined;
}

export function resolve(report: TerminalReport, vehicleOf: (terminalId: TerminalId) => Vehicle | undefined): Resolved {
  for (const terminalId of [report.terminalId, ...(report.otherIds ?? [])]) {
    const vehicle = vehicleOf(terminalId);
    if (vehicle !== undefined) return { ...report, terminalId, vehicle };
  }
  return { ...report, vehicle: undefined };
}
