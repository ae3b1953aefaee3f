/**
 * Whether a segment touches a box, given by its middle and half of its sizes. Exact but for rounding, far below the
 * margin that callers add to the box.
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
  // Seen from the middle: is the box apart from the segment along x, along y, or across the segment?
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
