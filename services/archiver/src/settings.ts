import { type Variables, whole } from '@outrider/runtime';

/** Settings of the archiver. */
export const archiverVariables = {
  ARCHIVE_MS: whole(50, 60_000, 1000, 'How long positions may wait to be archived together.'),
  ARCHIVE_UNREAD_MS: whole(
    50,
    3_600_000,
    300_000,
    'The same while nobody reads an embedded archive: fewer inserts cost less. Queries find them as by `ARCHIVE_MS`. While nobody reads counters of vehicles either, these are counted as rarely.',
  ),
  ARCHIVE_OPEN_MS: whole(
    0,
    86_400_000,
    900_000,
    'How long an embedded ClickHouse stays in memory after somebody asked it something: it takes a quarter of a gigabyte, and a second or two to open.',
  ),
  ARCHIVE_RETENTION_DAYS: whole(
    0,
    36_500,
    0,
    'How long positions and events are archived, by their own times; 0: for ever.',
  ),
} satisfies Variables;
