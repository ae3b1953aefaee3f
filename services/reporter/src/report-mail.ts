import { setTimeout as wait } from 'node:timers/promises';
import type { MailPolicy } from '@outrider/access';
import { type EmailChannel, type EmailMessage, outcomeOf, quotedName } from '@outrider/channels';
import { type Directory, isoTime, mayHear, type ReportSchedule, Turns, type User } from '@outrider/domain';
import type { Files } from '@outrider/files';
import type { Job, Registry, ReportDelivery, ReportDeliveryOutcome, ReportFile } from '@outrider/registry';
import { Counter, type Logger, type Registry as Metrics, type Part } from '@outrider/runtime';

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
/** Longer than a message may take: whoever dies over one leaves it to others then. */
const LEASE_MS = 180_000;

/**
 * Sends the reports of schedules to their mailboxes. Each is leased first, so that several instances never send the same
 * one; what fails for now is tried again, later and later, for a day. What the rights say when it is sent decides: who
 * may not see any more what a report tells of is sent none.
 */
export function createReportMail(parts: ReportMailParts): Part {
  const { config, registry, directory, files, email, mailPolicy, logger, now } = parts;
  const attempts = new Counter({
    name: 'outrider_report_mails_total',
    help: 'Attempts to send a report by e-mail, by how they ended',
    labelNames: ['outcome'],
    registers: [parts.metrics],
  });
  const turns = new Turns();
  const stopping = new AbortController();
  let working: Promise<void> = Promise.resolve();
  let healthy = true;

  async function deliver(delivery: ReportDelivery): Promise<void> {
    const prepared = await prepare(delivery);
    const outcome: ReportDeliveryOutcome =
      'cancelled' in prepared
        ? { state: 'cancelled', error: prepared.cancelled }
        : outcomeOf(delivery, await email.send(prepared), now(), parts.random());
    attempts.inc({ outcome: outcome.state });
    if (outcome.state === 'failed')
      logger.warn(
        { delivery: delivery.id, schedule: delivery.scheduleId, error: outcome.error },
        'a report was not sent',
      );
    await registry.reportDeliveries.settle(delivery, outcome);
  }

  /** What the schedule says now decides: who took an address out of it, or deleted it, wants nothing sent there. */
  async function prepare(delivery: ReportDelivery): Promise<EmailMessage | { cancelled: string }> {
    const schedule = await registry.reportSchedules.get(delivery.scheduleId);
    if (schedule === null) return { cancelled: 'The schedule was deleted.' };
    if (!schedule.emails.includes(delivery.target)) return { cancelled: 'The schedule does not name the address.' };
    const owner = directory.users.get(schedule.ownerId);
    if (owner === undefined || owner.blocked) return { cancelled: 'The account is blocked.' };
    const job = await registry.jobs.get(delivery.jobId);
    if (job === null) return { cancelled: 'The report is forgotten.' };
    const message = await compose(delivery, schedule, owner, job);
    if ('cancelled' in message) return message;
    // What would not be sent anyway does not count.
    const address = await mailPolicy.admit(owner, delivery.target, delivery.attempts === 1);
    return 'cancelled' in address ? address : mailPolicy.withUnsubscribe(message, address);
  }

  async function compose(
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
    const bytes = file && (await bytesOf(file));
    if (file === null || bytes === null) return { cancelled: 'The file was deleted.' };
    if (!maySee(owner, file)) return { cancelled: 'The account may not see all of it any more.' };
    const isAttached = bytes !== 'too large';
    return {
      id: delivery.id,
      to,
      subject,
      text: textOf(subject, schedule, job, file, isAttached),
      ...(isAttached && { attachments: [{ name: file.name, mediaType: file.mediaType, content: bytes }] }),
    };
  }

  async function bytesOf(file: ReportFile): Promise<Uint8Array | 'too large' | null> {
    if (file.bytes > config.maxAttachmentBytes) return 'too large';
    const stream = await files.get(file.id);
    return stream === null ? null : Buffer.concat(await Array.fromAsync(stream));
  }

  function maySee(owner: User, { vehicleIds, geofenceIds }: ReportFile): boolean {
    const none = { vehicle: undefined, geofence: undefined, geofenceOwner: undefined };
    return (
      vehicleIds.every((id) => mayHear(owner, { ...none, vehicle: directory.vehicles.get(id) })) &&
      geofenceIds.every((id) => {
        const geofence = directory.geofences.get(id);
        const geofenceOwner = geofence && directory.users.get(geofence.ownerId);
        return mayHear(owner, { vehicle: undefined, geofence, geofenceOwner });
      })
    );
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      let found = 0;
      try {
        const leased = await registry.reportDeliveries.lease(AT_ONCE, LEASE_MS, turns);
        found = leased.length;
        await Promise.all(leased.map((each) => deliver(each).finally(() => turns.end(each.owner))));
        healthy = true;
      } catch (error) {
        // What was leased is tried again when the lease has run out.
        if (healthy) logger.error({ err: error }, 'reports could not be sent; trying on');
        healthy = false;
      }
      if (found === 0 || !healthy)
        await wait(config.pollMs ?? 1000, undefined, { signal: stopping.signal }).catch(() => {});
    }
  }

  return {
    name: 'report mail',
    async start() {
      working = run();
    },
    async stop() {
      stopping.abort();
      await working;
    },
  };
}

interface Told {
  report: string;
  fromMs: number | null;
  toMs: number | null;
  timeZone: string;
}

/** Such as `mileage, 2026-01-05 to 2026-01-11`. */
function titleOf({ parameters }: Job): string {
  const { report, fromMs, toMs, timeZone } = parameters as unknown as Told;
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
