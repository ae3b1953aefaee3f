/** Mean radius of the Earth in metres, equal to turf's so that distances agree. */
export const EARTH_RADIUS_M = 6_371_008.8;

/** Radians in a degree. */
export const RADIANS = Math.PI / 180;

/** Metres in a degree of latitude, and in a degree of longitude on the equator. */
export const METRES_PER_DEGREE = EARTH_RADIUS_M * RADIANS;
