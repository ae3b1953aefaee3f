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
    'The embedded log makes packets durable together: two commits begin no sooner after each other, unless 256 KiB wait. An acknowledgement, and what people see live, comes that much later at most, and the fewer commits, the less a small fleet costs. The first packet after a pause waits for nothing.',
  ),
  ...serverVariables,
  ...metricsVariables,
  ...loggerVariables,
  ...tracingVariables,
  ...demoVariables,
} satisfies Variables;
