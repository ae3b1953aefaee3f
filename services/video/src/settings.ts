import { join } from 'node:path';
import { type folderVariables, videoStoreOf, type videoStoreVariables } from '@outrider/backing';
import { type Config, oneOf, port, text, textOr, type Variables, whole } from '@outrider/runtime';
import type { VideoConfig } from './video.ts';

/** Environment variables of the video service, besides {@link videoStoreVariables}. */
export const videoVariables = {
  VIDEO_MEDIA_PORT: port(5016, 'Port for streams of JT/T 1078 video terminals.'),
  VIDEO_MEDIA_HOST: text(
    'Host name or address of the media port for terminals. If unset, the first address of this machine that is not local.',
  ),
  VIDEO_MAX_DOWNLOADS: whole(1, 256, 8, 'Maximum number of simultaneous video downloads.'),
  VIDEO_ALLOW_PRIVATE: oneOf(
    ['no', 'yes'],
    'no',
    'Whether RTSP and HTTP sources of video may have private network addresses.',
  ),
  FFMPEG: textOr('ffmpeg', 'Path of the ffmpeg program, used to copy RTSP and HTTP sources of video.'),
} satisfies Variables;

/** The video tasks of a crashed worker become free after this time. */
const LEASE_MS = 30_000;
const POLL_MS = 1000;

/**
 * The video service's configuration from the settings.
 *
 * @param isAlone whether no other process works on the tasks of this registry
 */
export function videoConfigOf(
  config: Config<typeof videoVariables & typeof videoStoreVariables & typeof folderVariables>,
  isAlone: boolean,
): VideoConfig {
  return {
    spool: join(config.DATA_DIR, 'video-spool'),
    maxDownloads: config.VIDEO_MAX_DOWNLOADS,
    leaseMs: LEASE_MS,
    pollMs: POLL_MS,
    isAlone,
    ...videoStoreOf(config),
  };
}
