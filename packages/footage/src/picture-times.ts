import type { Picture } from './picture-gatherer.ts';
import { Timeline } from './timeline.ts';

/**
 * The library writes half a second of a track at once. If a half second has more bytes, pictures are shifted in time.
 */
const HALF_SECOND_BYTES = 16 * 1024 * 1024;
const USUAL_STEP_MS = 40;

/** Presentation times and durations of the pictures of a file. */
export class PictureTimes {
  readonly #timeline: Timeline;
  #chunk = { startMs: 0, bytes: 0 };
  #keyFloorMs = 0;
  /** Times of the last few pictures. */
  #lateTimes: number[] = [];
  #stepMs = USUAL_STEP_MS;

  /** @param zeroMs the terminal's time that is 0 in the file */
  constructor(zeroMs: number) {
    this.#timeline = new Timeline(zeroMs);
  }

  /**
   * Duration of a picture: the smallest step between recent ones. Only needed for the last picture: the next one
   * determines the duration of any other.
   */
  get stepMs(): number {
    return this.#stepMs;
  }

  /** @returns milliseconds; null if the picture is from before the file's beginning */
  place(picture: Picture): number | null {
    const before = this.#timeline.latestMs;
    const crowded = this.#chunk.bytes + picture.bytes > HALF_SECOND_BYTES;
    // No picture after a key picture is shown before those that came in front of it.
    if (picture.key) this.#keyFloorMs = before ?? 0;
    const notBeforeMs = crowded ? this.#chunk.startMs + 500 : before === null ? undefined : this.#keyFloorMs;
    const atMs = this.#timeline.place(picture.timestampMs, picture.bidirectional && !picture.key, notBeforeMs);
    if (atMs < 0) return null;
    this.#noteStep(atMs);
    if (before === null || atMs - this.#chunk.startMs >= 500) this.#chunk = { startMs: atMs, bytes: 0 };
    this.#chunk.bytes += picture.bytes;
    return atMs;
  }

  #noteStep(atMs: number): void {
    this.#lateTimes = [...this.#lateTimes, atMs].slice(-8);
    const sorted = this.#lateTimes.toSorted((one, other) => one - other);
    const steps = sorted.slice(1).map((later, i) => later - (sorted[i] ?? later));
    const smallest = Math.min(...steps.filter((step) => step > 0), 1000);
    if (sorted.length > 1) this.#stepMs = smallest;
  }
}
