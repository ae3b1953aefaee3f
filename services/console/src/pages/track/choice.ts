/** The colours of more would look alike. */
export const MOST_VEHICLES = 6;

/** One track is coloured by speed, several by vehicle, unless the address says otherwise. */
export function isBySpeed(query: URLSearchParams, vehicles: number): boolean {
  const named = query.get('color');
  return named === 'speed' || (named !== 'vehicle' && vehicles === 1);
}
