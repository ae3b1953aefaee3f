/** The tables of the archive. */
export const ARCHIVE_TABLES = ['positions', 'events', 'measured_trips', 'late_days'] as const;
export type ArchiveTable = (typeof ARCHIVE_TABLES)[number];

/** All that parts can be lost of. */
export const WATCHED_TABLES = [...ARCHIVE_TABLES, 'archive_ledger', 'schema_migrations'] as const;
export type WatchedTable = (typeof WATCHED_TABLES)[number];
