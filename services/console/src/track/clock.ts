import { signal } from '@preact/signals';

export const RATES = [1, 10, 30, 60, 120, 300] as const;

/** The shared clock of a replay, which map, chart and slider follow. */
export class ReplayClock {
  readonly timeMs = signal(0);
  readonly isPlaying = signal(false);
  readonly rate = signal<number>(60);
  fromMs = 0;
  toMs = 0;
  #lastMs = 0;

  /** Sets a new interval, and moves the clock to its start or to the given time. */
  setInterval(fromMs: number, toMs: number, timeMs = fromMs): void {
    this.fromMs = fromMs;
    this.toMs = toMs;
    this.isPlaying.value = false;
    this.seek(timeMs);
  }

  seek(timeMs: number): void {
    this.timeMs.value = Math.min(this.toMs, Math.max(this.fromMs, timeMs));
  }

  toggle(nowMs: number): void {
    if (this.isPlaying.peek()) {
      this.isPlaying.value = false;
      return;
    }
    if (this.timeMs.peek() >= this.toMs) this.seek(this.fromMs);
    this.#lastMs = nowMs;
    this.isPlaying.value = true;
  }

  /** Called with each frame during playback. */
  tick(nowMs: number): void {
    if (!this.isPlaying.peek()) return;
    this.seek(this.timeMs.peek() + (nowMs - this.#lastMs) * this.rate.peek());
    this.#lastMs = nowMs;
    if (this.timeMs.peek() >= this.toMs) this.isPlaying.value = false;
  }
}
