import { reportStoreVariables } from '@outrider/backing';
import { type Config, type Variables, whole } from '@outrider/runtime';

/** The reporter's own settings. */
export const reporterVariables = {
  ...reportStoreVariables,
  REPORT_MAIL_MB: whole(1, 100, 10, 'Maximum size of a report that is attached to an e-mail.'),
} satisfies Variables;

const BYTES_PER_MB = 1_000_000;

/** How reports are mailed. */
export function reportMailOf(config: Config<typeof reporterVariables>): { maxAttachmentBytes: number } {
  return { maxAttachmentBytes: config.REPORT_MAIL_MB * BYTES_PER_MB };
}
