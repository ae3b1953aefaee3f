/**
 * Squared distance from a place to a segment, in degrees of latitude squared, on the map that is true to scale at
 * the place itself (equirectangular, with the place's own parallel as the standard one). A segment is straight in
 * longitude and latitude, as in GeoJSON.
 *
 * Within 500 m of the segment, the largest half width of a line, that map is off by at most `d / 2R * tan(latitude)` of
 * the distance: 2 cm of 500 m at 45°, 4 cm at 60°, 22 cm at 85°, the highest latitude a line may have.
 *
 * @param cosLatitude cosine of the latitude `y`
 */
export function squaredDistanceToSegment(
  ax: number,
  ay: number,
  bx: number,
  by: number,
  x: number,
  y: number,
  cosLatitude: number,
): number {
  const px = (x - ax) * cosLatitude;
  const py = y - ay;
  const dx = (bx - ax) * cosLatitude;
  const dy = by - ay;
  const length = dx * dx + dy * dy;
  let along = length > 0 ? (px * dx + py * dy) / length : 0;
  if (along < 0) along = 0;
  if (along > 1) along = 1;
  const ex = px - along * dx;
  const ey = py - along * dy;
  return ex * ex + ey * ey;
}
