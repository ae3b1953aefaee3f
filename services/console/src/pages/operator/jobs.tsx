import type { Job } from '@outrider/client';
import { useEffect } from 'preact/hooks';
import { formats } from '../../format.ts';
import { Paged } from '../../parts/lists/paged.tsx';
import { usePages } from '../../parts/lists/pages.ts';
import { type Column, Table } from '../../parts/lists/table.tsx';
import { hasEnded } from '../../parts/loading/jobs.ts';
import { JobProgress } from '../../parts/loading/progress.tsx';
import { Message } from '../../parts/message.tsx';
import { route, setQuery } from '../../router.ts';
import { api } from '../../session.ts';
import { t } from '../../words/words.ts';
import { userWords } from '../users/words.ts';
import { operatorWords } from './words.ts';

const PAGE = 100;
const EVERY_MS = 4000;

/** Background jobs: reports, recalculations, late data, erasures. */
export function JobsTab() {
  const { query } = route.value;
  const [kind, state] = ['kind', 'state'].map((name) => query.get(name) ?? '');
  const words = operatorWords();
  const list = usePages(
    (cursor, signal) =>
      api.get('/api/v1/jobs', {
        query: {
          limit: PAGE,
          ...(kind && kind in words.jobKinds ? { kind: kind as Job['kind'] } : {}),
          ...(state && state in t().parts.jobStates ? { state: state as Job['state'] } : {}),
          ...(cursor ? { cursor } : {}),
        },
        signal,
      }),
    [kind, state],
  );
  const isAnyOpen = (list.items.value ?? []).some((job) => !hasEnded(job));
  useEffect(() => {
    if (!isAnyOpen) return;
    const timer = setInterval(() => {
      if (!document.hidden) void list.reload();
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, [isAnyOpen, list]);
  return (
    <>
      <div class="filter-row">
        <Select label={words.kind} name="kind" value={kind ?? ''} words={words.jobKinds} all={words.allKinds} />
        <Select
          label={t().state}
          name="state"
          value={state ?? ''}
          words={t().parts.jobStates}
          all={userWords().allStates}
        />
      </div>
      <Paged list={list} empty={<Message icon="refresh" title={words.noJobs} hint={words.noJobsHint} />}>
        {(items) => <Table label={words.tabs.jobs} columns={columns()} rows={items} rowKey={({ id }) => id} />}
      </Paged>
    </>
  );
}

interface SelectProps {
  label: string;
  name: string;
  value: string;
  words: Readonly<Record<string, string>>;
  all: string;
}

function Select({ label, name, value, words, all }: SelectProps) {
  return (
    <select aria-label={label} value={value} onChange={(event) => setQuery({ [name]: event.currentTarget.value })}>
      <option value="">{all}</option>
      {Object.entries(words).map(([one, word]) => (
        <option key={one} value={one} selected={one === value}>
          {word}
        </option>
      ))}
    </select>
  );
}

function columns(): Column<Job>[] {
  const words = operatorWords();
  return [
    { key: 'kind', title: words.kind, cell: ({ kind }) => words.jobKinds[kind] },
    { key: 'about', title: words.about, cell: aboutOf },
    { key: 'created', title: words.asked, cell: ({ createdAt }) => formats().moment(createdAt) },
    {
      key: 'finished',
      title: words.finished,
      cell: ({ finishedAt }) => (finishedAt === null ? '' : formats().moment(finishedAt)),
    },
    { key: 'state', title: t().state, cell: (job) => <JobProgress job={job} /> },
  ];
}

function aboutOf(job: Job): string {
  const words = operatorWords();
  const time = (at: string | null) => (at === null ? '' : formats().moment(at));
  if (job.kind === 'report') return `${job.report} · ${job.format}`;
  if (job.kind === 'erasure') return hasEnded(job) ? words.erasureOf[job.subject] : words.dueAt(time(job.dueAt));
  if (job.kind === 'erase-history') return words.historyBefore(time(job.before));
  if (job.kind === 'retention' || job.kind === 'person-export') return '';
  return `${time(job.from)} – ${time(job.to)}`;
}
