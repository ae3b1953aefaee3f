import { apiVariables } from '@outrider/api';
import { archiverVariables } from '@outrider/archiver';
import {
  accessVariables,
  commandVariables,
  geocoderVariables,
  logVariables,
  mailVariables,
  pushVariables,
  serverVariables,
  videoStoreVariables,
} from '@outrider/backing';
import { gatewayVariables } from '@outrider/gateway';
import { COMMIT_GAP_MS } from '@outrider/log';
import { notifierVariables } from '@outrider/notifier';
import { reporterVariables } from '@outrider/reporter';
import { rulesVariables } from '@outrider/rules';
import {
  diskVariables,
  hostVariables,
  loggerVariables,
  metricsVariables,
  tracingVariables,
  type Variables,
  whole,
} from '@outrider/runtime';
import { videoVariables } from '@outrider/video';
import { demoVariables } from './demo/settings.ts';

/** Every environment variable that Outrider reads as one process; `docs/configuration.md` lists them. */
export const variables = {
  ...accessVariables,
  ...commandVariables,
  ...hostVariables,
  ...diskVariables,
  ...apiVariables,
  ...gatewayVariables,
  ...videoVariables,
  ...videoStoreVariables,
  ...geocoderVariables,
  ...mailVariables,
  ...pushVariables,
  ...reporterVariables,
  ...notifierVariables,
  ...logVariables,
  ...rulesVariables,
  ...archiverVariables,
  ARCHIVE_UNREAD_MS: whole(
    50,
    60_000,
    10_000,
    'The same while nobody reads an embedded archive: fewer inserts cost less. Queries find them as by `ARCHIVE_MS`.',
  ),
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
