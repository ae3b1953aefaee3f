import { type Variables, whole } from '@outrider/runtime';

/** What the archiver is set up by. */
export const archiverVariables = {
  ARCHIVE_MS: whole(50, 60_000, 1000, 'How long positions may wait to be archived together.'),
} satisfies Variables;
