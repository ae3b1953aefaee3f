import type { JobId, UserId } from './ids.ts';
import { isoTime } from './json.ts';

/** Channel of the hub on which the end of each report job is published, as {@link ReportJobNews}. */
export const REPORT_JOB_CHANNEL = 'report-job';

/** A message of {@link REPORT_JOB_CHANNEL}. */
export interface ReportJobNews {
  /** The account that requested the report and is notified. */
  userId: UserId;
  jobId: JobId;
  report: string;
  format: string;
  state: 'done' | 'failed';
  rows: number;
  /** Size of the file; 0 without one. */
  bytes: number;
  /** Reason of a failure; else null. */
  error: string | null;
  finishedAtMs: number;
}

/** The end of a report job as the live API sends it. */
export function reportJobJson(news: ReportJobNews): Record<string, unknown> {
  return {
    id: news.jobId,
    report: news.report,
    format: news.format,
    state: news.state,
    rows: news.rows,
    bytes: news.bytes,
    error: news.error,
    finishedAt: isoTime(news.finishedAtMs),
  };
}
