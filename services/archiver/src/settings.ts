import { type Variables, whole } from '@outrider/runtime';

/** Settings of the archiver. */
export const archiverVariables = {
  ARCHIVE_MS: whole(50, 60_000, 1000, 'How long positions may wait to be archived together.'),
  ARCHIVE_UNREAD_MS: whole(
    50,
    60_000,
    10_000,
    'The same while nobody reads an embedded archive: fewer inserts cost less. Queries find them as by `ARCHIVE_MS`.',
  ),
  ARCHIVE_RETENTION_DAYS: whole(
    0,
    36_500,
    0,
    'How long positions and events are archived, by their own times; 0: for ever.',
  ),
} satisfies Variables;
