import type { Job, NewReportJob, ReportKind } from '@outrider/client';
import { signal } from '@preact/signals';
import { describeError } from '../../errors.ts';
import { hasEnded } from '../../parts/loading/jobs.ts';
import { toast } from '../../parts/toast.tsx';
import { api } from '../../session.ts';
import { language } from '../../words/words.ts';
import { titleOfKind } from './kinds.ts';
import { bodyOf, fileLook, type Look, type Question, queryOf } from './state.ts';
import { reportWords } from './words.ts';

/** Unfinished jobs that this page has created. */
export const pending = signal<readonly Job[]>([]);
/** Grows when a job starts or ends, so that lists of jobs are loaded again. */
export const jobChanges = signal(0);

const FIRST_POLL_MS = 700;
const LONGEST_POLL_MS = 5000;

/** Saves a small report at once. */
export async function download(
  question: Question,
  look: Look,
  kind: ReportKind,
  format: string,
  timeZone: string,
): Promise<void> {
  const shown = fileLook(look, kind, format);
  const query = { ...queryOf(question, kind, timeZone), ...shown, language: language.value, format };
  const path = `/api/v1/reports/${kind.kind}`;
  const { shape } = question;
  const response = await (shape === null
    ? api.send('get', path, { query })
    : api.send('post', path, { query, body: shape }));
  const name = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1] ?? kind.kind;
  const url = URL.createObjectURL(await response.blob());
  save(url, name);
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Creates a job for a long report, and saves the file once it is done, on any screen that is open then. */
export async function make(
  question: Question,
  look: Look,
  kind: ReportKind,
  format: string,
  timeZone: string,
): Promise<void> {
  const { range, shape } = question;
  const interval = { from: new Date(range.fromMs).toISOString(), to: new Date(range.toMs).toISOString() };
  const body = {
    ...bodyOf(question),
    ...fileLook(look, kind, format),
    language: language.value,
    format,
    timeZone,
    ...(kind.hasTimeRange ? interval : {}),
    ...(shape && { shape }),
  };
  const job = await api.post('/api/v1/report-jobs', { body: body as NewReportJob });
  jobChanges.value += 1;
  pending.value = [...pending.peek(), job];
  void follow(job.id);
}

async function follow(id: string): Promise<void> {
  for (let waitMs = FIRST_POLL_MS; ; waitMs = Math.min(LONGEST_POLL_MS, waitMs * 1.5)) {
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    let job: Job;
    try {
      job = await api.get('/api/v1/jobs/{id}', { path: { id } });
    } catch (error) {
      // The job continues without the page, and its file appears in the list of files.
      if (waitMs < LONGEST_POLL_MS) continue;
      toast(describeError(error), 'error', FILES);
      break;
    }
    pending.value = pending.peek().map((one) => (one.id === id ? job : one));
    if (!hasEnded(job)) continue;
    ended(job);
    break;
  }
  pending.value = pending.peek().filter((one) => one.id !== id);
  jobChanges.value += 1;
}

const FILES = '/reports?list=files';

function ended(job: Job): void {
  if (job.kind !== 'report') return;
  const title = titleOfKind(job.report);
  if (job.state === 'failed') toast(reportWords().fileFailed(title, job.error ?? ''), 'error', FILES);
  if (job.state !== 'done' || job.result === null) return;
  save(job.result.url, job.result.name);
  toast(reportWords().fileDone(title), 'info', FILES);
}

function save(url: string, name: string): void {
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
}
