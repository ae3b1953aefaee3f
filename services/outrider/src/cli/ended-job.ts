import { setTimeout as wait } from 'node:timers/promises';
import type { Job } from '@outrider/client';

/** Waits until a job has ended, whatever its outcome. */
export async function endedJob(look: () => Promise<Job>, everyMs: number, signal?: AbortSignal): Promise<Job> {
  for (;;) {
    const job = await look();
    if (job.state !== 'queued' && job.state !== 'running') return job;
    await wait(everyMs, undefined, { signal });
  }
}
