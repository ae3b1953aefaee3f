/** Of a link that names only a moment: what the replay shows before and after it. */
const AROUND_MS = 30 * 60_000;

export interface TrackPlace {
  /** One vehicle, or several in one replay. */
  vehicleId: string | readonly string[];
  fromMs?: number | undefined;
  toMs?: number | undefined;
  /** The second that the replay opens at. */
  atMs?: number | undefined;
}

/**
 * The address of a replay: `/track?vehicle=…&from=…&to=…&t=…`, times as UTC to the second. Without an interval it is
 * that around `atMs`, and without either the present day.
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

/** `2026-01-31T12:00:00Z`: a time as addresses have it. */
export function secondText(ms: number, round: (seconds: number) => number = Math.floor): string {
  return new Date(round(ms / 1000) * 1000).toISOString().replace('.000Z', 'Z');
}

/** A time in an address; null for any other text. */
export function timeOf(text: string | null): number | null {
  const isTime = text !== null && /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?(\.\d{1,3})?Z$/.test(text);
  const ms = isTime ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? null : ms;
}

/** The form that orders a clip: of the time around a moment, or without one, of the present. */
export function videoOrderLink({ vehicleId, atMs }: { vehicleId: string; atMs?: number | undefined }): string {
  const query = new URLSearchParams({ order: '1', vehicle: vehicleId });
  if (atMs !== undefined) query.set('t', secondText(atMs));
  return `/video?${query.toString().replaceAll('%3A', ':')}`;
}
