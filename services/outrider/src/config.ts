import { logVariables, serverVariables } from '@outrider/backing';
import { COMMIT_GAP_MS } from '@outrider/log';
import {
  diskVariables,
  hostVariables,
  loggerVariables,
  metricsVariables,
  tracingVariables,
  type Variables,
  whole,
} from '@outrider/runtime';
import { demoVariables } from './demo/settings.ts';
import { SERVICE_SETTINGS } from './services.ts';

/** All environment variables of Outrider in one process, listed in `docs/configuration.md`. */
export const variables = {
  ...hostVariables,
  ...SERVICE_SETTINGS,
  ...diskVariables,
  ...logVariables,
  COMMIT_GAP_MS: whole(
    0,
    1000,
    COMMIT_GAP_MS,
    'Minimum time between two commits of the embedded log, unless 256 KiB are waiting. It delays acknowledgements and live data by at most this time, and fewer commits cost less processor time. The first packet after a pause is committed at once.',
  ),
  ...serverVariables,
  ...metricsVariables,
  ...loggerVariables,
  ...tracingVariables,
  ...demoVariables,
} satisfies Variables;
