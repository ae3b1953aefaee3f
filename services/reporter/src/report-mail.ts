import { type MailPolicy, maySeeStill, readerOf } from '@outrider/access';
import {
  type EmailChannel,
  type EmailMessage,
  escapeHtml,
  type MessageReader,
  messageDay,
  messageHtml,
  messageTime,
  outcomeOf,
  quotedName,
  type SendResult,
  tableHtml,
} from '@outrider/channels';
import { type Clock, type Directory, type ReportSchedule, Turns, type User } from '@outrider/domain';
import type { Files } from '@outrider/files';
import type { Job, Registry, ReportDelivery, ReportDeliveryOutcome, ReportFile } from '@outrider/registry';
import { requestOf } from '@outrider/reports';
import { Counter, type Logger, type Metrics, type Part, worker } from '@outrider/runtime';
import { messagesIn, REPORT_FAILURES } from '@outrider/words/messages';

export interface ReportMailParts {
  config: {
    /** A larger file is not attached: the message says where it is. */
    maxAttachmentBytes: number;
    /** Public address of the service, for links. */
    publicUrl: string;
    /** Default 1000. */
    pollMs?: number;
  };
  registry: Pick<Registry, 'reportDeliveries' | 'reportSchedules' | 'reportFiles' | 'jobs' | 'preferences'>;
  /** All current definitions. */
  directory: Directory;
  files: Pick<Files, 'get'>;
  email: Pick<EmailChannel, 'send'>;
  mailPolicy: Pick<MailPolicy, 'admit' | 'withUnsubscribe'>;
  logger: Logger;
  metrics: Metrics;
  clock: Clock;
  /** 0 to 1. */
  random(): number;
}

/** Messages sent at once: each may hold a file in memory. */
const AT_ONCE = 2;
/** Lease duration. Renewed while the message is sent, so another worker retries a crashed worker's message. */
const LEASE_MS = 30_000;
const RENEW_EVERY_MS = 10_000;

/**
 * Sends the reports of schedules to their mailboxes. A failed attempt is repeated at growing intervals, for a day. The
 * rights at the time of sending decide: an account that may no longer see all of a report is sent none.
 */
export function createReportMail(parts: ReportMailParts): Part {
  const { registry, logger } = parts;
  const attempts = new Counter({
    name: 'outrider_report_mails_total',
    help: 'Attempts to send a report by e-mail, by outcome',
    labelNames: ['outcome'],
    registers: [parts.metrics],
  });
  const turns = new Turns();

  async function attempt(delivery: ReportDelivery): Promise<ReportDeliveryOutcome> {
    const result = await sendReport(parts, delivery).catch((error): SendResult => {
      logger.error({ err: error, delivery: delivery.id }, 'report failed to send in the service; retrying');
      return { ok: false, retry: true, error: 'Sending failed in the service.', status: null };
    });
    if ('cancelled' in result) return { state: 'cancelled', error: result.cancelled };
    return outcomeOf(delivery, result, parts.clock.now(), parts.random());
  }

  return worker<ReportDelivery>({
    name: 'report mail',
    atOnce: AT_ONCE,
    lease: (free) => registry.reportDeliveries.lease(free, LEASE_MS, turns),
    async run(delivery) {
      try {
        const outcome = await attempt(delivery);
        attempts.inc({ outcome: outcome.state });
        if (outcome.state === 'failed')
          logger.warn(
            { delivery: delivery.id, schedule: delivery.scheduleId, error: outcome.error },
            'report not sent',
          );
        await registry.reportDeliveries.settle(delivery, outcome);
      } finally {
        turns.end(delivery.owner);
      }
    },
    renew: { everyMs: RENEW_EVERY_MS, leases: (leased) => registry.reportDeliveries.renew(leased, LEASE_MS) },
    facts: ({ id, scheduleId }) => ({ delivery: id, schedule: scheduleId }),
    pollMs: parts.config.pollMs ?? 1000,
    logger,
    clock: parts.clock,
  });
}

async function sendReport(
  parts: ReportMailParts,
  delivery: ReportDelivery,
): Promise<SendResult | { cancelled: string }> {
  const prepared = await prepare(parts, delivery);
  return 'cancelled' in prepared ? prepared : parts.email.send(prepared);
}

/** The current schedule decides: nothing is sent to an address that was removed from it, or if it was deleted. */
async function prepare(
  parts: ReportMailParts,
  delivery: ReportDelivery,
): Promise<EmailMessage | { cancelled: string }> {
  const { registry, directory, mailPolicy } = parts;
  const schedule = await registry.reportSchedules.get(delivery.scheduleId);
  if (schedule === null) return { cancelled: 'The schedule was deleted.' };
  if (!schedule.emails.includes(delivery.target)) return { cancelled: 'The schedule does not name the address.' };
  const owner = directory.ownerOf(schedule);
  if (owner === undefined || owner.blocked) return { cancelled: 'The account is blocked.' };
  const job = await registry.jobs.get(delivery.jobId);
  if (job === null) return { cancelled: 'The report no longer exists.' };
  const { language } = requestOf(job);
  const preferred = await readerOf(registry, owner.id, schedule.timeZone);
  // The reader is unknown: the language is that of the schedule, else that of its owner.
  const reader = language ? { ...preferred, language } : preferred;
  const message = await compose(parts, delivery, { schedule, owner, job, reader });
  if ('cancelled' in message) return message;
  // Checked last: a message that would not be sent anyway must not count.
  const address = await mailPolicy.admit(owner, delivery.target, delivery.attempts === 1);
  return 'cancelled' in address ? address : mailPolicy.withUnsubscribe(message, address, reader.language);
}

interface ToCompose {
  schedule: ReportSchedule;
  owner: User;
  job: Job;
  reader: MessageReader;
}

async function compose(
  { registry, directory, files, config }: ReportMailParts,
  delivery: ReportDelivery,
  { schedule, owner, job, reader }: ToCompose,
): Promise<EmailMessage | { cancelled: string }> {
  const to = [delivery.target];
  const { words } = messagesIn(reader.language);
  const { title, labels, reasons, failed, tooLarge } = words.reportMail;
  const name = reportName(job, reader);
  // The owner cannot choose any of its words. The name of the schedule only appears in the text, quoted as a name.
  const titled = title(name, periodOf(job, reader));
  const scheduled = [labels.schedule, quotedName(schedule.name)] as const;
  if (job.state === 'failed') {
    const known = REPORT_FAILURES.find((each) => each === job.result?.reason);
    // An earlier version stored the sentence alone.
    const reason = known ? reasons[known] : (job.error ?? '');
    return { id: delivery.id, to, ...written(reader, failed(titled), [scheduled, [labels.reason, reason]]) };
  }
  const file = await registry.reportFiles.of(job.id);
  const bytes = file && (await bytesOf(files, file, config.maxAttachmentBytes));
  if (file === null || bytes === null) return { cancelled: 'The file was deleted.' };
  if (!maySeeStill(file, owner, directory)) return { cancelled: 'The account may no longer see all of it.' };
  const isAttached = bytes !== 'too large';
  const attached = fileName(file, name, job);
  const url = `${config.publicUrl}/api/v1/report-jobs/${job.id}/file`;
  const rows = new Intl.NumberFormat(reader.language, { useGrouping: false }).format(Number(job.result?.rows ?? 0));
  return {
    id: delivery.id,
    to,
    ...written(reader, titled, [
      scheduled,
      [labels.rows, rows],
      ...summaryOf(job),
      [labels.daysOf, schedule.timeZone],
      [labels.made, messageTime(job.finishedAtMs ?? 0, reader)],
      [labels.file, isAttached ? attached : tooLarge(Math.ceil(file.bytes / 1_000_000), url)],
    ]),
    ...(isAttached && { attachments: [{ name: attached, mediaType: file.mediaType, content: bytes }] }),
  };
}

/** The message as text, and as a document in the direction of the language. */
function written(
  { language }: MessageReader,
  subject: string,
  rows: readonly (readonly [label: string, value: string])[],
): Pick<EmailMessage, 'subject' | 'text' | 'html'> {
  const lines = rows.map(([label, value]) => `${label}: ${value}`);
  return {
    subject,
    text: `${[subject, '', ...lines].join('\n')}\n`,
    html: messageHtml(language, subject, [`<p>${escapeHtml(subject)}</p>`, ...tableHtml(rows)]),
  };
}

async function bytesOf(
  files: Pick<Files, 'get'>,
  file: ReportFile,
  maxBytes: number,
): Promise<Uint8Array | 'too large' | null> {
  if (file.bytes > maxBytes) return 'too large';
  const stream = await files.get(file.id);
  return stream === null ? null : Buffer.concat(await Array.fromAsync(stream));
}

function reportName(job: Job, { language }: MessageReader): string {
  const { report } = requestOf(job);
  return messagesIn(language).names.reports[report] ?? report;
}

/** First and last day by the calendar of the report; null for a report without a time range. */
function daysOf(job: Job): { first: Temporal.PlainDate; last: Temporal.PlainDate } | null {
  const { fromMs, toMs, timeZone } = requestOf(job);
  if (fromMs === null || toMs === null) return null;
  return { first: dayOf(fromMs, timeZone), last: dayOf(toMs - 1, timeZone) };
}

function dayOf(timeMs: number, timeZone: string): Temporal.PlainDate {
  return Temporal.Instant.fromEpochMilliseconds(timeMs).toZonedDateTimeISO(timeZone).toPlainDate();
}

/** Time range of the report such as `2026-01-05 to 2026-01-11`, as written in the language. */
function periodOf(job: Job, { language }: MessageReader): string | null {
  const days = daysOf(job);
  if (days === null) return null;
  const first = messageDay(days.first, language);
  const last = messageDay(days.last, language);
  return first === last ? first : messagesIn(language).words.reportMail.period(first, last);
}

/**
 * File name in the language of the reader, with days that sort: `Mileage 2026-01-05 2026-01-11.xlsx`. A report without
 * a time range is named by the day when it was made.
 */
function fileName(file: ReportFile, name: string, job: Job): string {
  const { first, last } = daysOf(job) ?? dayMade(job);
  const period = new Set([first.toString(), last.toString()]);
  // Characters that file systems refuse.
  const plain = name.replace(/[\\/:*?"<>|]+/g, '-');
  return `${[plain, ...period].join(' ')}.${file.name.split('.').at(-1)}`;
}

function dayMade(job: Job): { first: Temporal.PlainDate; last: Temporal.PlainDate } {
  const day = dayOf(job.finishedAtMs ?? job.createdAtMs, requestOf(job).timeZone);
  return { first: day, last: day };
}

/** Totals of the report, as labels and values; an earlier version stored none. */
function summaryOf({ result }: Job): [label: string, value: string][] {
  const { summary } = result ?? {};
  const lines = Array.isArray(summary) ? summary.filter((line) => typeof line === 'string') : [];
  return lines.map((line) => {
    const [label = '', ...value] = line.split(': ');
    return [label, value.join(': ')];
  });
}
