import type { Job } from '@outrider/client';
import { SYSTEM_CLOCK } from '@outrider/domain/clock';

/** A job once it has ended, however it did. */
export async function endedJob(look: () => Promise<Job>, everyMs: number, signal?: AbortSignal): Promise<Job> {
  for (;;) {
    const job = await look();
    if (job.state !== 'queued' && job.state !== 'running') return job;
    await SYSTEM_CLOCK.sleep(everyMs, signal);
  }
}
