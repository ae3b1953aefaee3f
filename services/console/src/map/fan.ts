/** Distance between the middles of two rows. This and all lengths below are in rem. */
const ROW = 2.25;
/** Distance from the centre to the nearest end of a row beside it. */
const NEAREST = 1.375;
/** Distance of the rows in the middle of a column, so that the centre stays visible. */
const FARTHEST = 3.625;
const MARGIN = 0.5;
const WIDEST = 17.5;
/** In less width than this a name cannot be read. */
const NARROWEST = 6.75;

/** Position of one fanned-out item: the end next to the centre, and the side to which it extends. */
export interface Spoke {
  x: number;
  y: number;
  side: 'left' | 'right';
  /** Maximum width. */
  width: number;
}

/**
 * Layout for several items around a point: in columns left and right of it, the first ones on the right, each in its
 * own row within the window. A side without space has no column.
 *
 * @param spot position of the point in the window; all sizes are in rem
 */
export function fanOf(
  count: number,
  spot: { x: number; y: number },
  { width, height }: { width: number; height: number },
): Spoke[] {
  const spaces = {
    right: Math.min(WIDEST, width - MARGIN - spot.x - FARTHEST),
    left: Math.min(WIDEST, spot.x - MARGIN - FARTHEST),
  };
  const both = (['right', 'left'] as const).filter((side) => spaces[side] >= NARROWEST);
  const sides = both.length > 0 ? both : [spaces.right >= spaces.left ? ('right' as const) : ('left' as const)];
  const rows = Math.ceil(count / sides.length);
  return sides.flatMap((side, nth) => {
    const own = Math.min(rows, count - nth * rows);
    const top = spot.y - ((own - 1) * ROW) / 2;
    const highest = MARGIN + ROW / 2;
    const lowest = height - MARGIN - ROW / 2 - (own - 1) * ROW;
    const first = Math.max(highest, Math.min(lowest, top));
    return Array.from({ length: own }, (_, row) => {
      const y = first + row * ROW;
      const bend = ((y - spot.y) / ((rows * ROW) / 2)) ** 2;
      const away = NEAREST + (FARTHEST - NEAREST) * Math.sqrt(Math.max(0, 1 - bend));
      return { x: side === 'right' ? spot.x + away : spot.x - away, y, side, width: spaces[side] };
    });
  });
}
