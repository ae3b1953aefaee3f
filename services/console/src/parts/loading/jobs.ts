import type { Job } from '@outrider/client';
import { signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { api } from '../../session.ts';

const FIRST_POLL_MS = 500;
const LONGEST_POLL_MS = 5000;
const ENDED: readonly Job['state'][] = ['done', 'failed', 'cancelled'];

export function hasEnded(job: Job): boolean {
  return ENDED.includes(job.state);
}

/** Follows a job and its progress until it has ended. */
export function useJob(id: string | null) {
  const followed = useMemo(() => ({ job: signal<Job | null>(null), error: signal<unknown>(null) }), [id]);
  useEffect(() => {
    if (id === null) return;
    const ending = new AbortController();
    void follow(id, followed, ending.signal);
    return () => ending.abort();
  }, [id, followed]);
  return followed;
}

async function follow(
  id: string,
  { job, error }: { job: { value: Job | null }; error: { value: unknown } },
  ending: AbortSignal,
): Promise<void> {
  for (let waitMs = FIRST_POLL_MS; !ending.aborted; waitMs = Math.min(LONGEST_POLL_MS, waitMs * 1.5)) {
    try {
      const read = await api.get('/api/v1/jobs/{id}', { path: { id }, signal: ending });
      job.value = read;
      error.value = null;
      if (hasEnded(read)) return;
    } catch (reason) {
      if (ending.aborted) return;
      error.value = reason;
    }
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}
