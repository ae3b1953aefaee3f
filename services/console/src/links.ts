/** For a link that names only a moment: the time before and after it that the replay shows. */
const AROUND_MS = 30 * 60_000;

export interface TrackPlace {
  /** One vehicle, or several in one replay. */
  vehicleId: string | readonly string[];
  fromMs?: number | undefined;
  toMs?: number | undefined;
  /** The second at which the replay opens. */
  atMs?: number | undefined;
}

/**
 * The address of a replay: `/track?vehicle=…&from=…&to=…&t=…`, times as UTC to the second. Without an interval, it
 * shows the time around `atMs`; without both, the current day.
 */
export function trackLink({ vehicleId, fromMs, toMs, atMs }: TrackPlace): string {
  const query = new URLSearchParams();
  for (const id of typeof vehicleId === 'string' ? [vehicleId] : vehicleId) query.append('vehicle', id);
  const from = fromMs ?? (atMs === undefined ? undefined : atMs - AROUND_MS);
  const to = toMs ?? (atMs === undefined ? undefined : atMs + AROUND_MS);
  if (from !== undefined) query.set('from', secondText(from));
  if (to !== undefined) query.set('to', secondText(to, Math.ceil));
  if (atMs !== undefined) query.set('t', secondText(atMs));
  return `/track?${query.toString().replaceAll('%3A', ':')}`;
}

/** Formats a time for addresses: `2026-01-31T12:00:00Z`. */
export function secondText(ms: number, round: (seconds: number) => number = Math.floor): string {
  return new Date(round(ms / 1000) * 1000).toISOString().replace('.000Z', 'Z');
}

/** Parses a time of an address; null for any other text. */
export function timeOf(text: string | null): number | null {
  const isTime = text !== null && /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?(\.\d{1,3})?Z$/.test(text);
  const ms = isTime ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? null : ms;
}

/** Link to the form that orders a clip of the time around a moment, or of the present without one. */
export function videoOrderLink({ vehicleId, atMs }: { vehicleId: string; atMs?: number | undefined }): string {
  const query = new URLSearchParams({ order: '1', vehicle: vehicleId });
  if (atMs !== undefined) query.set('t', secondText(atMs));
  return `/video?${query.toString().replaceAll('%3A', ':')}`;
}
