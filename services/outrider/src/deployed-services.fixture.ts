import { apiVariables } from '@outrider/api';
import { archiverVariables } from '@outrider/archiver';
import {
  accessVariables,
  commandVariables,
  folderVariables,
  logVariables,
  mailVariables,
  reportStoreVariables,
  serverVariables,
  videoStoreVariables,
} from '@outrider/backing';
import { forwarderVariables } from '@outrider/forwarder';
import { gatewayVariables } from '@outrider/gateway';
import { notifierVariables } from '@outrider/notifier';
import { reporterVariables } from '@outrider/reporter';
import { rulesVariables } from '@outrider/rules';
import type { Variables } from '@outrider/runtime';
import { videoVariables } from '@outrider/video';

/** What each service that runs alone reads. */
export const VARIABLES: Record<string, Variables> = {
  gateway: { ...gatewayVariables, ...logVariables, ...serverVariables },
  datagrams: { ...gatewayVariables, ...logVariables, ...serverVariables },
  rules: { ...rulesVariables, ...logVariables, ...serverVariables },
  recalculator: { ...logVariables, ...serverVariables },
  archiver: { ...archiverVariables, ...logVariables, ...serverVariables },
  notifier: {
    ...accessVariables,
    ...commandVariables,
    ...notifierVariables,
    ...mailVariables,
    ...logVariables,
    ...serverVariables,
  },
  video: { ...folderVariables, ...videoVariables, ...videoStoreVariables, ...logVariables, ...serverVariables },
  api: {
    ...accessVariables,
    ...commandVariables,
    ...apiVariables,
    ...reportStoreVariables,
    ...videoStoreVariables,
    ...logVariables,
    ...serverVariables,
  },
  reporter: { ...accessVariables, ...mailVariables, ...reporterVariables, ...logVariables, ...serverVariables },
  forwarder: { ...forwarderVariables, ...logVariables, ...serverVariables },
};
/** What runs from another's image. */
export const IMAGE_OF: Record<string, string> = { recalculator: 'rules', datagrams: 'gateway' };
