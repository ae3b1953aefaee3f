import { allPages } from '../parts/lists/pages.ts';
import { api } from '../session.ts';

const PAGE = 1000;

interface ScoreQuery {
  from: string;
  to: string;
  vehicleId?: string[];
  driverId?: string[];
}

/** Key that identifies a trip in all reports. */
export function tripKey({ vehicleId, startedAt }: { vehicleId: string; startedAt: string }): string {
  return `${vehicleId} ${startedAt}`;
}

/** The scores of trips that began in a time range, by {@link tripKey}. */
export async function readScores({ from, to, vehicleId, driverId }: ScoreQuery, signal: AbortSignal) {
  const query = { from, to, limit: PAGE, ...(vehicleId && { vehicleId }), ...(driverId && { driverId }) };
  const rows = await allPages((cursor) =>
    api.get('/api/v1/reports/eco-driving', { query: { ...query, ...cursor }, signal }),
  );
  return new Map(rows.map((row) => [tripKey(row), row.ecoScore]));
}
