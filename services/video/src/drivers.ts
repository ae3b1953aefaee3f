import type { Hub } from '@outrider/hub';
import type { Config, hostVariables, Logger, Metrics } from '@outrider/runtime';
import type { VideoDriver } from './driver.ts';
import { createJt1078Driver } from './jt1078/driver.ts';
import { mediaHost } from './media-host.ts';
import type { videoVariables } from './settings.ts';
import { createStreamDriver } from './stream/driver.ts';

/** Timeout for responses of a video terminal, and for a stream without data. */
const ANSWER_MS = 15_000;
const STALL_MS = 30_000;

export interface OpenDrivers {
  drivers: readonly VideoDriver[];
  /** The port that terminals send their streams to. */
  mediaPort: number;
}

/**
 * Opens all drivers by the settings.
 *
 * @throws {Error} when the media port can't be listened on
 */
export async function openDrivers(
  config: Config<typeof videoVariables & typeof hostVariables>,
  { hub, metrics, logger }: { hub: Hub; metrics: Metrics; logger: Logger },
): Promise<OpenDrivers> {
  const jt1078 = await createJt1078Driver({
    hub,
    host: config.HOST,
    mediaHost: config.VIDEO_MEDIA_HOST ?? mediaHost(config.HOST),
    mediaPort: config.VIDEO_MEDIA_PORT,
    answerTimeoutMs: ANSWER_MS,
    stallTimeoutMs: STALL_MS,
    metrics,
    logger,
  });
  const stream = createStreamDriver({
    ffmpeg: config.FFMPEG,
    allowPrivate: config.VIDEO_ALLOW_PRIVATE === 'yes',
    stallMs: STALL_MS,
  });
  return { drivers: [jt1078, stream], mediaPort: jt1078.mediaPort };
}
