import type { Fleet } from '../fleet/fleet.ts';

/** A shorter movement is not visible. */
const STEP_PX = 0.25;
/** A label at this distance from its moved vehicle is not noticed. */
const LABEL_STEP_PX = 2;
/** Side of the square in which an icon covers no other. Icons of a crowd are drawn smaller. */
const ICON_SPACE_PX = 26;
const SMALLEST_SCALE = 0.5;

/** How long nothing moves visibly on a map of this world width in pixels; infinite if all vehicles stand still. */
export function restsForMs(fleet: Fleet, nowMs: number, worldPx: number): number {
  if (nowMs >= fleet.restsAtMs) return Number.POSITIVE_INFINITY;
  let fastest = 0;
  for (let index = 0; index < fleet.count; index += 1) {
    const glideMs = fleet.glideMs[index] as number;
    if (glideMs === 0 || nowMs >= (fleet.startMs[index] as number) + glideMs) continue;
    const dx = Math.abs((fleet.x[index] as number) - (fleet.fromX[index] as number));
    const dy = Math.abs((fleet.y[index] as number) - (fleet.fromY[index] as number));
    fastest = Math.max(fastest, (dx + dy) / glideMs);
  }
  return Math.min(STEP_PX / (fastest * worldPx), fleet.restsAtMs - nowMs + 1);
}

/** A name at a point of the Mercator square. */
export interface Label {
  name: string;
  x: number;
  y: number;
}

/**
 * Whether the labels on the map are still good enough: they have the names that are to be shown, and each is nearer
 * than two pixels to its vehicle's current position.
 *
 * @param worldPx width of the world in pixels
 */
export function areNearVehicles(shown: readonly Label[], now: readonly Label[], worldPx: number): boolean {
  return (
    shown.length === now.length &&
    now.every(({ name, x, y }, index) => {
      const before = shown[index] as Label;
      return name === before.name && Math.hypot(x - before.x, y - before.y) * worldPx < LABEL_STEP_PX;
    })
  );
}

/** Scale of icons for a number of vehicles in an area of square pixels. */
export function crowdScale(count: number, areaPx: number): number {
  const space = Math.sqrt(areaPx / Math.max(1, count)) / ICON_SPACE_PX;
  return Math.min(1, Math.max(SMALLEST_SCALE, space));
}
