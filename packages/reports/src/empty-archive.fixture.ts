import type { Reading } from './formats/format.ts';
import type { MaintenanceOfVehicles } from './kinds/maintenance.ts';
import type { ReportArchive } from './report.ts';

/** An archive that nothing was ever put into. */
export const EMPTY_ARCHIVE: ReportArchive = {
  positions: async () => ({ positions: [], next: null }),
  records: async () => ({ records: [], next: null }),
  fixesBefore: async () => [],
  vehiclesWithin: async () => [],
  overlappingEvents: async () => ({ events: [], next: null }),
  openEvents: async () => [],
  tallies: async () => ({ tallies: [], crossing: [] }),
  tripParts: async () => [],
  rejections: async () => [],
  async *file() {},
  gaps: async () => [],
};

/** An archive that has no turns: who asks is answered at once. */
export function withoutTurns<Archive extends object>(archive: Archive): Archive & { as(): Archive } {
  return { ...archive, as: () => archive };
}

/** Nothing is planned, and nothing was done. */
export const NO_MAINTENANCE: MaintenanceOfVehicles = {
  planned: async () => [],
  done: async () => [],
  currency: async () => null,
};

export function sampleReading(more: Partial<Reading> = {}): Reading {
  const fromMs = Date.UTC(2026, 0, 12);
  return {
    language: 'en',
    units: 'metric',
    who: 'Anna',
    title: null,
    fromMs,
    toMs: fromMs + 86_400_000,
    madeAtMs: fromMs + 90_000_000,
    incomplete: [],
    ...more,
  };
}
