import { expect, test } from 'vitest';
import { ClipClock, type ClockedVideo } from './clip-clock.ts';

const START_MS = Date.UTC(2026, 0, 15, 12);

class FakeVideo implements ClockedVideo {
  currentTime = 0;
  duration = 60;
  paused = true;
  playbackRate = 1;
  get ended(): boolean {
    return this.currentTime >= this.duration;
  }
  async play(): Promise<void> {
    this.paused = false;
  }
  pause(): void {
    this.paused = true;
  }
}

function clocked(...videos: FakeVideo[]): ClipClock {
  const clock = new ClipClock(START_MS, START_MS + 60_000);
  for (const video of videos) clock.attach(video);
  return clock;
}

test('the time follows the first video, and the others are kept with it', () => {
  const [road, cabin] = [new FakeVideo(), new FakeVideo()];
  const clock = clocked(road, cabin);
  clock.play();
  expect([road.paused, cabin.paused]).toEqual([false, false]);
  road.currentTime = 10;
  cabin.currentTime = 9.9;
  clock.tick();
  expect(clock.timeMs.value).toBe(START_MS + 10_000);
  expect(cabin.currentTime).toBe(9.9);
  cabin.currentTime = 9;
  clock.tick();
  expect(cabin.currentTime).toBe(10);
});

test('a seek reaches all videos, none beyond its end', () => {
  const [road, short] = [new FakeVideo(), new FakeVideo()];
  short.duration = 30;
  const clock = clocked(road, short);
  clock.seek(START_MS + 45_000);
  expect([road.currentTime, short.currentTime]).toEqual([45, 30]);
  clock.seek(START_MS - 1);
  expect(clock.timeMs.value).toBe(START_MS);
});

test('the controls of one video move all of them; its own seek is no news', () => {
  const [road, cabin] = [new FakeVideo(), new FakeVideo()];
  const clock = clocked(road, cabin);
  clock.seek(START_MS + 5000);
  road.currentTime = 20;
  clock.onSeeking(road);
  expect(clock.timeMs.value).toBe(START_MS + 20_000);
  expect(cabin.currentTime).toBe(20);
  cabin.currentTime = 20.01;
  clock.onSeeking(cabin);
  expect(clock.timeMs.value).toBe(START_MS + 20_000);
  clock.onPlay();
  expect(clock.isPlaying.value).toBe(true);
  clock.onPause(cabin);
  expect([road.paused, cabin.paused]).toEqual([true, true]);
});

test('a video that ended does not pause the others; after the last the clock stands at the end', () => {
  const [long, short] = [new FakeVideo(), new FakeVideo()];
  short.duration = 10;
  const clock = clocked(short, long);
  clock.play();
  short.currentTime = 10;
  long.currentTime = 10;
  clock.onPause(short);
  clock.tick();
  expect(clock.isPlaying.value).toBe(true);
  long.currentTime = 60;
  clock.tick();
  expect([clock.isPlaying.value, clock.timeMs.value]).toEqual([false, START_MS + 60_000]);
  clock.play();
  expect(long.currentTime).toBe(0);
});

test('a new pace holds for all, and for a video that comes later', () => {
  const road = new FakeVideo();
  const clock = clocked(road);
  clock.setRate(4);
  const late = new FakeVideo();
  const detach = clock.attach(late);
  expect([road.playbackRate, late.playbackRate]).toEqual([4, 4]);
  detach();
  clock.setRate(1);
  expect(late.playbackRate).toBe(4);
});
