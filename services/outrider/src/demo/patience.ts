/** The demo's fleet starts this long after the service, even if the history is not processed by then. */
export const HISTORY_PATIENCE_MS = 120_000;
