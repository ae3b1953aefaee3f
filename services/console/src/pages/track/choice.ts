/** With more vehicles, colours would look alike. */
export const MOST_VEHICLES = 6;

/** Whether tracks are coloured by speed. By default, one track is, and several are coloured by vehicle. */
export function isBySpeed(query: URLSearchParams, vehicles: number): boolean {
  const named = query.get('color');
  return named === 'speed' || (named !== 'vehicle' && vehicles === 1);
}
