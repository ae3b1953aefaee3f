import type { ReportArchive } from './report.ts';

/** An archive that nothing was ever put into. */
export const EMPTY_ARCHIVE: ReportArchive = {
  positions: async () => ({ positions: [], next: null }),
  fixesBefore: async () => [],
  vehiclesWithin: async () => [],
  overlappingEvents: async () => ({ events: [], next: null }),
  openEvents: async () => [],
  tallies: async () => ({ tallies: [], crossing: [] }),
  tripParts: async () => [],
  rejections: async () => [],
  async *file() {},
};
