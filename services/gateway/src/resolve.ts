import type { TerminalId, Vehicle } from '@outrider/domain';
import type { TerminalReport } from '@outrider/protocols';

/** A report under the form of its id that a vehicle is registered with, or else its first one. */
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
