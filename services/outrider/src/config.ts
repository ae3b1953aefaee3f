import { apiVariables } from '@outrider/api';
import { archiverVariables } from '@outrider/archiver';
import { accessVariables, archiveVariables, logVariables, serverVariables } from '@outrider/backing';
import { gatewayVariables } from '@outrider/gateway';
import { notifierVariables } from '@outrider/notifier';
import { rulesVariables } from '@outrider/rules';
import { diaryVariables, hostVariables, type Variables } from '@outrider/runtime';

/** Every environment variable that Outrider reads as one process; the README's table is checked against this. */
export const variables = {
  ...accessVariables,
  ...hostVariables,
  ...apiVariables,
  ...gatewayVariables,
  ...notifierVariables,
  ...logVariables,
  ...rulesVariables,
  ...archiverVariables,
  ...archiveVariables,
  ...serverVariables,
  ...diaryVariables,
} satisfies Variables;
