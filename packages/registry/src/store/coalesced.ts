/**
 * Runs `work` for its callers, one run at a time. A caller gets a run that began after its call, and shares it with
 * other callers of that time. The run therefore sees everything that happened before the call.
 */
export function coalesced(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  const start = (): Promise<void> => {
    const run = work().finally(() => {
      running = null;
    });
    running = run;
    return run;
  };
  return () => {
    if (running === null) return start();
    next ??= running
      .catch(() => {})
      .then(() => {
        next = null;
        return running ?? start();
      });
    return next;
  };
}
