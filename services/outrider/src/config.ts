import { apiVariables } from '@outrider/api';
import { archiverVariables } from '@outrider/archiver';
import { accessVariables, logVariables, mailVariables, serverVariables, videoStoreVariables } from '@outrider/backing';
import { gatewayVariables } from '@outrider/gateway';
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
} from '@outrider/runtime';
import { videoVariables } from '@outrider/video';

/** Every environment variable that Outrider reads as one process; `docs/configuration.md` lists them. */
export const variables = {
  ...accessVariables,
  ...hostVariables,
  ...diskVariables,
  ...apiVariables,
  ...gatewayVariables,
  ...videoVariables,
  ...videoStoreVariables,
  ...mailVariables,
  ...reporterVariables,
  ...notifierVariables,
  ...logVariables,
  ...rulesVariables,
  ...archiverVariables,
  ...serverVariables,
  ...metricsVariables,
  ...loggerVariables,
  ...tracingVariables,
} satisfies Variables;
