import { type Variables, whole } from '@outrider/runtime';

/** Settings of the archiver. */
export const archiverVariables = {
  ARCHIVE_MS: whole(
    50,
    60_000,
    1000,
    'Maximum time for which positions are collected before they are archived together.',
  ),
  ARCHIVE_UNREAD_MS: whole(
    50,
    3_600_000,
    300_000,
    'The same while nobody reads an embedded archive, because fewer inserts cost less. Queries still see all data as with `ARCHIVE_MS`. While nobody reads vehicle counters either, they are updated at this interval, too.',
  ),
  ARCHIVE_OPEN_MS: whole(
    0,
    86_400_000,
    900_000,
    'How long an embedded ClickHouse stays in memory after the last query. It uses a quarter of a gigabyte and takes a second or two to start.',
  ),
  ARCHIVE_RETENTION_DAYS: whole(
    0,
    36_500,
    0,
    'How long positions and events are kept in the archive, by their own times. 0 to keep them for ever.',
  ),
} satisfies Variables;
