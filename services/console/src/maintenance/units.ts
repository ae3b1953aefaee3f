const KM_PER_MILE = 1.609344;

type Units = 'metric' | 'imperial';

/** Converts metres to the viewer's kilometres or miles. */
export function shownDistance(metres: number, units: Units): number {
  return units === 'imperial' ? metres / 1000 / KM_PER_MILE : metres / 1000;
}

/** Converts a distance that the viewer entered to whole metres. */
export function metresOf(shown: number, units: Units): number {
  return Math.round(shown * (units === 'imperial' ? KM_PER_MILE : 1) * 1000);
}

export function unitOf(units: Units): string {
  return units === 'imperial' ? 'mi' : 'km';
}
