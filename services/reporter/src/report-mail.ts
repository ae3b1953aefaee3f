import type { MailPolicy } from '@outrider/access';
import { type EmailChannel, type EmailMessage, outcomeOf, quotedName, type SendResult } from '@outrider/channels';
import { type Directory, isoTime, mayReceive, type ReportSchedule, Turns, type User } from '@outrider/domain';
import type { Files } from '@outrider/files';
import type { Job, Registry, ReportDelivery, ReportDeliveryOutcome, ReportFile } from '@outrider/registry';
import { Counter, type Logger, type Registry as Metrics, type Part, worker } from '@outrider/runtime';

export interface ReportMailParts {
  config: {
    /** A larger file is not attached: the message says where it is. */
    maxAttachmentBytes: number;
    /** Default 1000. */
    pollMs?: number;
  };
  registry: Pick<Registry, 'reportDeliveries' | 'reportSchedules' | 'reportFiles' | 'jobs'>;
  /** Everything defined, as it is in force. */
  directory: Directory;
  files: Pick<Files, 'get'>;
  email: Pick<EmailChannel, 'send'>;
  mailPolicy: Pick<MailPolicy, 'admit' | 'withUnsubscribe'>;
  logger: Logger;
  metrics: Metrics;
  /** Unix milliseconds. */
  now(): number;
  /** 0 to 1. */
  random(): number;
}

/** Each may hold a file in memory. */
const AT_ONCE = 2;
/** Lease duration. Renewed while the message is sent, so another worker retries a crashed worker's message. */
const LEASE_MS = 30_000;
const RENEW_EVERY_MS = 10_000;

/**
 * Sends the reports of schedules to their mailboxes. An attempt that fails, for whatever reason, is repeated later and
 * later, for a day. The rights at the time of sending decide: an account that may not see all of a report any more is
 * sent none.
 */
export function createReportMail(parts: ReportMailParts): Part {
  const { registry, logger } = parts;
  const attempts = new Counter({
    name: 'outrider_report_mails_total',
    help: 'Attempts to send a report by e-mail, by how they ended',
    labelNames: ['outcome'],
    registers: [parts.metrics],
  });
  const turns = new Turns();

  async function attempt(delivery: ReportDelivery): Promise<ReportDeliveryOutcome> {
    const result = await sendReport(parts, delivery).catch((error): SendResult => {
      logger.error({ err: error, delivery: delivery.id }, 'report failed to send in the service; retrying');
      return { ok: false, retry: true, error: 'The service failed to send it.', status: null };
    });
    if ('cancelled' in result) return { state: 'cancelled', error: result.cancelled };
    return outcomeOf(delivery, result, parts.now(), parts.random());
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
  });
}

async function sendReport(
  parts: ReportMailParts,
  delivery: ReportDelivery,
): Promise<SendResult | { cancelled: string }> {
  const prepared = await prepare(parts, delivery);
  return 'cancelled' in prepared ? prepared : parts.email.send(prepared);
}

/** What the schedule says now decides: who took an address out of it, or deleted it, wants nothing sent there. */
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
  if (job === null) return { cancelled: 'The report is forgotten.' };
  const message = await compose(parts, delivery, schedule, owner, job);
  if ('cancelled' in message) return message;
  // What would not be sent anyway does not count.
  const address = await mailPolicy.admit(owner, delivery.target, delivery.attempts === 1);
  return 'cancelled' in address ? address : mailPolicy.withUnsubscribe(message, address);
}

async function compose(
  { registry, directory, files, config }: ReportMailParts,
  delivery: ReportDelivery,
  schedule: ReportSchedule,
  owner: User,
  job: Job,
): Promise<EmailMessage | { cancelled: string }> {
  const to = [delivery.target];
  // No word of it is its owner's to choose: the name of the schedule stands in the text, as a name.
  const subject = `Report ${titleOf(job)}`;
  if (job.state === 'failed') {
    const text = `${subject}\n\nSchedule: ${quotedName(schedule.name)}\nThe report could not be made. ${job.error ?? ''}\n`;
    return { id: delivery.id, to, subject: `${subject} could not be made`, text };
  }
  const file = await registry.reportFiles.of(job.id);
  const bytes = file && (await bytesOf(files, file, config.maxAttachmentBytes));
  if (file === null || bytes === null) return { cancelled: 'The file was deleted.' };
  if (!maySee(directory, owner, file)) return { cancelled: 'The account may not see all of it any more.' };
  const isAttached = bytes !== 'too large';
  return {
    id: delivery.id,
    to,
    subject,
    text: textOf(subject, schedule, job, file, isAttached),
    ...(isAttached && { attachments: [{ name: file.name, mediaType: file.mediaType, content: bytes }] }),
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

function maySee(directory: Directory, owner: User, { vehicleIds, geofenceIds }: ReportFile): boolean {
  const none = { vehicle: undefined, geofence: undefined, geofenceOwner: undefined };
  return (
    vehicleIds.every((id) => mayReceive(owner, { ...none, vehicle: directory.vehicles.get(id) })) &&
    geofenceIds.every((id) => {
      const geofence = directory.geofences.get(id);
      const geofenceOwner = directory.ownerOf(geofence);
      return mayReceive(owner, { vehicle: undefined, geofence, geofenceOwner });
    })
  );
}

interface ReportTerms {
  report: string;
  fromMs: number | null;
  toMs: number | null;
  timeZone: string;
}

/** Such as `mileage, 2026-01-05 to 2026-01-11`. */
function titleOf({ parameters }: Job): string {
  const { report, fromMs, toMs, timeZone } = parameters as unknown as ReportTerms;
  if (fromMs === null || toMs === null) return report;
  const day = (timeMs: number) =>
    Temporal.Instant.fromEpochMilliseconds(timeMs).toZonedDateTimeISO(timeZone).toPlainDate().toString();
  const [first, last] = [day(fromMs), day(toMs - 1)];
  return first === last ? `${report}, ${first}` : `${report}, ${first} to ${last}`;
}

function textOf(subject: string, schedule: ReportSchedule, job: Job, file: ReportFile, isAttached: boolean): string {
  const rows = Number(job.result?.rows ?? 0);
  const where = `/api/v1/report-jobs/${job.id}/file`;
  const lines = [
    subject,
    '',
    `Schedule: ${quotedName(schedule.name)}`,
    `Rows: ${rows}`,
    `Days of: ${schedule.timeZone}`,
    `Made: ${isoTime(job.finishedAtMs ?? 0)}`,
    isAttached
      ? `File: ${file.name}`
      : `File: ${file.name} has ${Math.ceil(file.bytes / 1_000_000)} MB, which is too large for an e-mail. It is at ${where}`,
  ];
  return `${lines.join('\n')}\n`;
}
