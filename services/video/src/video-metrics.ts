import { type Directory, isFinal, VIDEO_TASK_STATES } from '@outrider/domain';
import type { Registry } from '@outrider/registry';
import { Counter, Gauge, type Metrics } from '@outrider/runtime';
import type { VideoRetentionConfig } from './video-retention.ts';

export function videoMetrics({ metrics, registry, directory, config }: VideoMetricsParts, running: () => number) {
  const finished = new Counter({
    name: 'outrider_video_tasks_finished_total',
    help: 'Finished video tasks, by state: done, failed or cancelled',
    labelNames: ['state', 'reason'],
    registers: [metrics],
  });
  const fetchedBytes = new Counter({
    name: 'outrider_video_fetched_bytes_total',
    help: 'Bytes of video received from terminals',
    registers: [metrics],
  });
  new Gauge({
    name: 'outrider_video_downloads',
    help: 'Video downloads in progress',
    registers: [metrics],
    collect() {
      this.set(running());
    },
  });
  new Gauge({
    name: 'outrider_video_tasks',
    help: 'Unfinished video tasks, by state',
    labelNames: ['state'],
    registers: [metrics],
    async collect() {
      // The database has a readiness check of its own.
      const counts = await registry.videoQueue.counts().catch(() => null);
      if (counts === null) return;
      for (const state of VIDEO_TASK_STATES) if (!isFinal(state)) this.set({ state }, counts.get(state) ?? 0);
    },
  });
  new Gauge({
    name: 'outrider_video_profiles_refused',
    help: 'Video profiles that are not used because their address belongs to the terminal of another vehicle',
    registers: [metrics],
    collect() {
      this.set([...directory.videoProfiles.values()].filter((profile) => directory.isOfAnotherVehicle(profile)).length);
    },
  });
  const stored = new Gauge({
    name: 'outrider_video_stored_files',
    help: 'Stored videos',
    registers: [metrics],
  });
  new Gauge({
    name: 'outrider_video_stored_bytes',
    help: 'Total size of stored videos',
    registers: [metrics],
    async collect() {
      const usage = await registry.storedVideos.usage().catch(() => null);
      if (usage === null) return;
      this.set(usage.bytes);
      stored.set(usage.files);
    },
  });
  for (const [name, help, value] of [
    ['outrider_video_quota_bytes', 'Bytes that all videos together may take up', config.quotaBytes],
    ['outrider_video_retention_days', 'Days that a video is kept', config.retentionDays],
  ] as const)
    new Gauge({ name, help, registers: [metrics] }).set(value);
  return { finished, fetchedBytes };
}

export interface VideoMetricsParts {
  config: VideoRetentionConfig;
  registry: Pick<Registry, 'videoQueue' | 'storedVideos'>;
  directory: Directory;
  metrics: Metrics;
}
