/**
 * The server ends a transaction that is idle for this long: its client may have crashed, and others wait for its locks.
 */
export const IDLE_IN_TRANSACTION_MS = 10_000;
