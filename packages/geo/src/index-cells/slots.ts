import type { Shape } from '@outrider/domain';
import type { FlatShape } from '../flat-shape.ts';

/** Assigns small numbers to the geofences of an index; those of removed geofences are reused. */
export class Slots {
  readonly #slotOf = new Map<number, number>();
  /** By slot; -1 where the slot is free. */
  keys = new Int32Array(4);
  readonly shapes: (Shape | undefined)[] = [];
  /** By slot: unwrapped west, south, east, north of the shape. NaN where the slot is free. */
  boxes = new Float64Array(16);
  readonly #free: number[] = [];

  /** Number of geofences. */
  get size(): number {
    return this.#slotOf.size;
  }

  get byteLength(): number {
    return this.keys.byteLength + this.boxes.byteLength + this.shapes.length * 8;
  }

  of(key: number): number | undefined {
    return this.#slotOf.get(key);
  }

  take(key: number, shape: Shape, flat: FlatShape): number {
    const slot = this.#free.pop() ?? this.shapes.length;
    if (slot >= this.keys.length) this.#grow();
    this.#slotOf.set(key, slot);
    this.keys[slot] = key;
    this.shapes[slot] = shape;
    const extent = flat.type === 'circle' ? flat.extent : flat.images[0]?.extent;
    if (extent !== undefined) this.boxes.set([extent.minX, extent.minY, extent.maxX, extent.maxY], slot * 4);
    return slot;
  }

  free(key: number, slot: number): void {
    this.#slotOf.delete(key);
    this.keys[slot] = -1;
    this.shapes[slot] = undefined;
    this.boxes.fill(Number.NaN, slot * 4, slot * 4 + 4);
    this.#free.push(slot);
  }

  #grow(): void {
    const length = Math.ceil(this.keys.length * 1.5);
    const keys = new Int32Array(length);
    keys.set(this.keys);
    this.keys = keys;
    const boxes = new Float64Array(length * 4);
    boxes.set(this.boxes);
    this.boxes = boxes;
  }
}
