/**
 * Whether a segment touches a box, given by its centre and half of its sizes. Exact except for rounding, which is far
 * below the margin that callers add to the box.
 */
export function segmentTouchesBox(
  ax: number,
  ay: number,
  bx: number,
  by: number,
  middleX: number,
  middleY: number,
  halfX: number,
  halfY: number,
): boolean {
  // Separating axes relative to the box's centre: x, y, and the normal of the segment.
  const px = ax - middleX;
  const py = ay - middleY;
  const qx = bx - middleX;
  const qy = by - middleY;
  if ((px > halfX && qx > halfX) || (px < -halfX && qx < -halfX)) return false;
  if ((py > halfY && qy > halfY) || (py < -halfY && qy < -halfY)) return false;
  const dx = bx - ax;
  const dy = by - ay;
  return Math.abs(dx * py - dy * px) <= Math.abs(dx) * halfY + Math.abs(dy) * halfX;
}
