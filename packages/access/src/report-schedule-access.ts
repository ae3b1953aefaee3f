import type { Directory, ReportSchedule, ReportScheduleId, User } from '@outrider/domain';
import type { ListedReportDelivery, Page, Paging, Registry, ReportScheduleFields } from '@outrider/registry';
import { scheduledReport } from '@outrider/reports';
import { EmailStates, type ListedEmails } from './accounts/email-states.ts';
import { requireSeen } from './job-access.ts';
import { notFound } from './problem.ts';
import { seenDrivers, seenVehicles, unseenIn } from './report-access.ts';
import { isOperator, requireRight, requireUnlimited, rightToReportSchedule } from './rights.ts';

export interface ReportScheduleSources {
  registry: Pick<Registry, 'reportSchedules' | 'reportDeliveries' | 'mailAddresses' | 'preferences'>;
  directory: Directory;
  config: {
    /** Whether the operator vouches for an e-mail address. Default: for none. */
    isTrustedAddress?: (address: string) => boolean;
  };
}

/** A schedule with the states of its e-mail addresses. */
export type ListedSchedule = ReportSchedule & ListedEmails;

export type ScheduleWish = Omit<ReportScheduleFields, 'ownerId'>;

/** A caller's own report schedules; operators see everyone's. */
export class ReportScheduleAccess {
  readonly #caller: User;
  readonly #sources: ReportScheduleSources;
  readonly #emails: EmailStates;

  constructor(caller: User, sources: ReportScheduleSources) {
    this.#caller = caller;
    this.#sources = sources;
    this.#emails = new EmailStates(sources);
  }

  async schedule(id: ReportScheduleId): Promise<ListedSchedule> {
    return this.#emails.addTo(this.#shown(await this.#schedule(id)));
  }

  async schedules(paging: Paging): Promise<Page<ListedSchedule>> {
    const own = isOperator(this.#caller) ? {} : { ownerId: this.#caller.id };
    const page = await this.#sources.registry.reportSchedules.list(own, paging);
    const items = page.items.filter((schedule) => rightToReportSchedule(this.#caller, schedule) !== 'none');
    return {
      ...page,
      items: await this.#emails.addToAll(items.map((schedule) => this.#shown(schedule))),
    };
  }

  /** E-mails with reports of the schedule, the newest first. */
  async deliveries(id: ReportScheduleId, paging: Paging): Promise<Page<ListedReportDelivery>> {
    await this.#schedule(id);
    return this.#sources.registry.reportDeliveries.ofSchedule(id, paging);
  }

  async add(wish: ScheduleWish): Promise<ListedSchedule> {
    requireUnlimited(this.#caller);
    requireRight(this.#caller, 'edit-notifications');
    requireSeen(scheduledReport(wish), this.#caller, this.#sources.directory);
    await this.#emails.request(this.#caller.id, wish.emails, scheduledReport(wish).language ?? null);
    return this.#emails.addTo(
      await this.#sources.registry.reportSchedules.create({ ...wish, ownerId: this.#caller.id }),
    );
  }

  /** @param change computes the new fields from the current ones */
  async change(
    id: ReportScheduleId,
    ifMatch: number | null,
    change: (current: ReportSchedule) => ScheduleWish,
  ): Promise<ListedSchedule> {
    requireUnlimited(this.#caller);
    requireRight(this.#caller, 'edit-notifications');
    const current = await this.#schedule(id);
    const wish = change(current);
    const [was, is] = [scheduledReport(current), scheduledReport(wish)];
    // Existing references may stay, even if no longer visible to the caller.
    requireSeen(
      {
        vehicleId: is.vehicleId === was.vehicleId ? null : is.vehicleId,
        vehicleIds: newIn(is.vehicleIds, was.vehicleIds),
        groupId: is.groupId === was.groupId ? null : is.groupId,
        geofenceId: is.geofenceId === was.geofenceId ? null : is.geofenceId,
        driverIds: newIn(is.driverIds, was.driverIds),
      },
      this.#caller,
      this.#sources.directory,
    );
    if (wish.emails !== current.emails) await this.#emails.request(current.ownerId, wish.emails, is.language ?? null);
    // The fields were merged with this version, so that a concurrent change is not lost.
    const version = ifMatch ?? current.version;
    return this.#emails.addTo(this.#shown(await this.#sources.registry.reportSchedules.update(id, version, wish)));
  }

  async remove(id: ReportScheduleId, ifMatch: number | null): Promise<void> {
    requireUnlimited(this.#caller);
    requireRight(this.#caller, 'edit-notifications');
    await this.#schedule(id);
    await this.#sources.registry.reportSchedules.delete(id, ifMatch);
  }

  async #schedule(id: ReportScheduleId): Promise<ReportSchedule> {
    const schedule = await this.#sources.registry.reportSchedules.get(id);
    if (schedule === null || rightToReportSchedule(this.#caller, schedule) === 'none') throw notFound();
    return schedule;
  }

  /** Hides references that the caller may no longer see. */
  #shown(schedule: ReportSchedule): ReportSchedule {
    const report = scheduledReport(schedule);
    const seen = (name: 'vehicleId' | 'groupId' | 'geofenceId') => {
      const only = { vehicleId: null, groupId: null, geofenceId: null, [name]: report[name] };
      return unseenIn(only, this.#caller, this.#sources.directory) === null ? report[name] : null;
    };
    const shown = {
      ...report,
      vehicleId: seen('vehicleId'),
      vehicleIds: report.vehicleIds && seenVehicles(report.vehicleIds, this.#caller, this.#sources.directory),
      groupId: seen('groupId'),
      geofenceId: seen('geofenceId'),
      driverIds: report.driverIds && seenDrivers(report.driverIds, this.#caller, this.#sources.directory),
    };
    return { ...schedule, report: shown };
  }
}

function newIn<T extends string>(
  is: readonly T[] | null | undefined,
  was: readonly T[] | null | undefined,
): T[] | null {
  const added = (is ?? []).filter((id) => !was?.includes(id));
  return added.length === 0 ? null : added;
}
