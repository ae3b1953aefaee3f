import type { Job } from '@outrider/client';
import { describeError } from '../../errors.ts';
import { formats } from '../../format.ts';
import { api } from '../../session.ts';
import { t } from '../../words/words.ts';
import { CancelButton } from '../buttons.tsx';
import { toast } from '../toast.tsx';
import { hasEnded } from './jobs.ts';

/** Progress of a job, and a button that cancels it. */
export function JobProgress({ job }: { job: Job }) {
  const cancel = () =>
    api
      .post('/api/v1/jobs/{id}/cancel', { path: { id: job.id } })
      .catch((error: unknown) => toast(describeError(error), 'error'));
  return (
    <div class="job" role="status">
      <span>{t().parts.jobStates[job.state]}</span>
      {!hasEnded(job) && (
        <>
          <progress
            max={100}
            value={job.state === 'queued' ? undefined : job.percent}
            aria-label={t().parts.jobStates[job.state]}
          />
          <span>{formats().number(job.percent)} %</span>
          {job.kind !== 'erase-history' && job.kind !== 'retention' && <CancelButton onClick={cancel} />}
        </>
      )}
      {job.state === 'failed' && <span class="error">{job.error}</span>}
    </div>
  );
}
