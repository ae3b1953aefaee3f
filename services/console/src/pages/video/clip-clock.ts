import { signal } from '@preact/signals';

/** The part of `<video>` that the clock uses. */
export type ClockedVideo = Pick<
  HTMLVideoElement,
  'currentTime' | 'duration' | 'ended' | 'paused' | 'playbackRate' | 'play' | 'pause'
>;

export const RATES = [0.5, 1, 2, 4, 8] as const;
/** Channels that drift by more than this are synchronised again. */
const DRIFT_S = 0.2;
/** Accuracy of a seek. */
const SAME_S = 0.05;

/** The shared clock of a clip, which channels, map and slider follow. */
export class ClipClock {
  readonly startMs: number;
  readonly endMs: number;
  readonly timeMs;
  readonly isPlaying = signal(false);
  readonly rate = signal(1);
  readonly #videos = new Map<ClockedVideo, number | null>();

  constructor(startMs: number, endMs: number) {
    this.startMs = startMs;
    this.endMs = endMs;
    this.timeMs = signal(startMs);
  }

  /** @returns function that detaches the video */
  attach(video: ClockedVideo): () => void {
    this.#videos.set(video, null);
    video.playbackRate = this.rate.peek();
    this.#set(video, this.#second());
    return () => void this.#videos.delete(video);
  }

  toggle(): void {
    if (this.isPlaying.peek()) this.pause();
    else this.play();
  }

  play(): void {
    if (this.timeMs.peek() >= this.endMs || this.#all().every(({ ended }) => ended)) this.seek(this.startMs);
    this.isPlaying.value = true;
    for (const video of this.#all())
      if (video.paused)
        video.play().catch(() => {
          // The browser refuses to play this video: the others continue.
          if (this.#all().every(({ paused }) => paused)) this.isPlaying.value = false;
        });
  }

  pause(): void {
    this.isPlaying.value = false;
    for (const video of this.#all()) video.pause();
  }

  seek(timeMs: number): void {
    this.timeMs.value = Math.min(this.endMs, Math.max(this.startMs, timeMs));
    for (const video of this.#all()) this.#set(video, this.#second());
  }

  setRate(rate: number): void {
    this.rate.value = rate;
    for (const video of this.#all()) video.playbackRate = rate;
  }

  /** Called when the user starts one of the videos by its own controls. */
  onPlay(): void {
    if (!this.isPlaying.peek()) this.play();
  }

  onPause(video: ClockedVideo): void {
    if (this.isPlaying.peek() && !video.ended) this.pause();
  }

  onSeeking(video: ClockedVideo): void {
    const wanted = this.#videos.get(video) ?? null;
    if (wanted !== null && Math.abs(video.currentTime - wanted) < SAME_S) return;
    this.seek(this.startMs + video.currentTime * 1000);
  }

  /** Called with each frame during playback. The time is that of the first video that has not ended. */
  tick(): void {
    if (!this.isPlaying.peek()) return;
    const leader = this.#all().find(({ ended }) => !ended);
    if (leader === undefined) {
      this.timeMs.value = this.endMs;
      this.isPlaying.value = false;
      return;
    }
    this.timeMs.value = Math.min(this.endMs, this.startMs + leader.currentTime * 1000);
    for (const video of this.#all())
      if (!video.ended && Math.abs(video.currentTime - leader.currentTime) > DRIFT_S)
        this.#set(video, leader.currentTime);
  }

  #all(): ClockedVideo[] {
    return [...this.#videos.keys()];
  }

  #second(): number {
    return (this.timeMs.peek() - this.startMs) / 1000;
  }

  #set(video: ClockedVideo, second: number): void {
    const wanted = Number.isFinite(video.duration) ? Math.min(second, video.duration) : second;
    this.#videos.set(video, wanted);
    if (Math.abs(video.currentTime - wanted) >= SAME_S) video.currentTime = wanted;
  }
}
