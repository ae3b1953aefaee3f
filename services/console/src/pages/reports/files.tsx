import type { Job } from '@outrider/client';
import { useEffect } from 'preact/hooks';
import { formats } from '../../format.ts';
import { live } from '../../live/live.ts';
import { Icon } from '../../parts/icon.tsx';
import { usePages } from '../../parts/lists/pages.ts';
import { hasEnded } from '../../parts/loading/jobs.ts';
import { JobProgress } from '../../parts/loading/progress.tsx';
import { Message } from '../../parts/message.tsx';
import { MissingNotes } from '../../protection/missing.tsx';
import { api, user } from '../../session.ts';
import { t } from '../../words/words.ts';
import { jobChanges } from './download.ts';
import { Failure } from './failure.tsx';
import { titleOfKind } from './kinds.ts';
import { reportWords } from './words.ts';

const PAGE = 100;
const POLL_MS = 3000;

type ReportJob = Extract<Job, { kind: 'report' }>;

/** Files of reports that were requested or scheduled, with the progress of unfinished ones. */
export function Files() {
  const list = usePages(
    (cursor, signal) =>
      api.get('/api/v1/jobs', {
        query: { kind: 'report', limit: PAGE, ...(cursor === undefined ? {} : { cursor }) },
        signal,
      }),
    [],
  );
  const changes = jobChanges.value;
  const ended = live.reportJob.value;
  useEffect(() => void list.reload(), [changes, ended]);
  // Operators receive the jobs of all users.
  const own = (list.items.value ?? []).filter(
    (job): job is ReportJob => job.kind === 'report' && job.userId === user.value?.id,
  );
  const isUnderWay = own.some((job) => !hasEnded(job));
  useEffect(() => {
    if (!isUnderWay) return;
    const timer = setInterval(() => void list.reload(), POLL_MS);
    return () => clearInterval(timer);
  }, [isUnderWay]);
  if (list.error.value !== null && list.items.value === null)
    return <Failure error={list.error.value} onRetry={() => void list.reload()} />;
  if (list.items.value === null) return <Message title={t().loading} />;
  if (own.length === 0 && !list.hasMore.value)
    return <Message icon="download" title={reportWords().noFiles} hint={reportWords().noFilesHint} />;
  return (
    <div class="page">
      <ul class="cards">
        {own.map((job) => (
          <FileCard key={job.id} job={job} />
        ))}
      </ul>
      {list.hasMore.value && (
        <button type="button" disabled={list.isLoading.value} onClick={() => void list.more()}>
          {t().parts.showMore}
        </button>
      )}
    </div>
  );
}

function FileCard({ job }: { job: ReportJob }) {
  const format = formats();
  const { report, from, to, result, createdAt, scheduleId, format: type } = job;
  const isGone = result !== null && Date.parse(result.expiresAt) <= Date.now();
  return (
    <li>
      <div>
        <strong>
          {titleOfKind(report)} · {type.toUpperCase()}
        </strong>
        <small>
          {from !== null && to !== null && `${format.dateTime(from)} – ${format.dateTime(to)} · `}
          {reportWords().askedAt(format.moment(createdAt))}
          {scheduleId !== null && ` · ${reportWords().bySchedule}`}
        </small>
        {result !== null && (
          <small>
            {reportWords().rowsShown(result.rows)} · {sizeText(result.bytes)} ·{' '}
            {isGone ? reportWords().fileGone : reportWords().keptUntil(format.moment(result.expiresAt))}
          </small>
        )}
        {result !== null && <MissingNotes {...result} />}
      </div>
      {result === null ? (
        <JobProgress job={job} />
      ) : (
        !isGone && (
          <a class="button" href={result.url} download={result.name}>
            <Icon name="download" /> {reportWords().download}
          </a>
        )
      )}
    </li>
  );
}

function sizeText(bytes: number): string {
  const format = formats();
  if (bytes < 1_000_000) return `${format.number(Math.max(1, bytes / 1000))} kB`;
  return `${format.number(bytes / 1e6, 1)} MB`;
}
