import type { Tokens } from '@outrider/auth';
import type { ApiKeyId, Directory, DriverId, SessionId, User } from '@outrider/domain';
import { accountOf } from '@outrider/domain';
import type { Geocoder, Point } from '@outrider/geocoder';
import type { Hub } from '@outrider/hub';
import type { Claim, Job, Registry, TemplateList } from '@outrider/registry';
import type { NamedPlace, ReportArchive, TrackReport } from '@outrider/reports';
import { AccountMailAccess } from './accounts/account-mail-access.ts';
import { ApiKeyAccess } from './accounts/api-key-access.ts';
import { ExternalSignInAccess } from './accounts/external-sign-in.ts';
import type { LoginBrake } from './accounts/login-brake.ts';
import { PasskeyAccess, type PasskeySources } from './accounts/passkey-access.ts';
import { SecondFactorAccess } from './accounts/second-factor-access.ts';
import { UserAccess } from './accounts/user-access.ts';
import { AuditAccess } from './audit-access.ts';
import { BulkChanges } from './bulk/bulk-changes.ts';
import { BulkScope } from './bulk/bulk-scope.ts';
import { DriverImport } from './bulk/driver-import.ts';
import { GeofenceImport } from './bulk/geofence-import.ts';
import { VehicleImport } from './bulk/vehicle-import.ts';
import { Checks } from './checks.ts';
import type { CommandSources } from './command-access.ts';
import { DriverAccess, type UnknownCode } from './fleet/driver-access.ts';
import { GeofenceAccess } from './fleet/geofence-access.ts';
import { GroupAccess } from './fleet/group-access.ts';
import type { GroupNames } from './fleet/group-names.ts';
import { VehicleAccess } from './fleet/vehicle-access.ts';
import { ForwardingAccess, type ForwardingSources } from './forwarding-access.ts';
import type { HistorySources } from './history-access.ts';
import { JobAccess, type JobSources } from './job-access.ts';
import { CounterAccess } from './maintenance/counter-access.ts';
import { MaintenanceImport } from './maintenance/maintenance-import.ts';
import { MaintenanceScope, type MaintenanceSources } from './maintenance/maintenance-scope.ts';
import { PlanAccess } from './maintenance/plan-access.ts';
import { ServiceAccess } from './maintenance/service-access.ts';
import { InboxAccess } from './notifications/inbox-access.ts';
import { IncidentAccess } from './notifications/incident-access.ts';
import { MessageChannelAccess, type MessageChannelSources } from './notifications/message-channel-access.ts';
import { type NotificationSources, RuleAccess } from './notifications/rule-access.ts';
import { RuleTrials } from './notifications/rule-trials.ts';
import type { Owned } from './owned-archive.ts';
import { PlaceAccess } from './place-access.ts';
import { Problem } from './problem.ts';
import { ADDRESSES_MS, ReportAccess } from './report-access.ts';
import { ReportScheduleAccess } from './report-schedule-access.ts';
import { requirePerson, showsAuthor } from './rights.ts';
import { ShareAccess, type ShareSources } from './share-access.ts';
import { VideoAccess, type VideoSources } from './video-access.ts';

/** All data sources. Only {@link Access} uses them on a caller's behalf. */
export interface Sources
  extends MaintenanceSources,
    NotificationSources,
    VideoSources,
    JobSources,
    ShareSources,
    HistorySources,
    CommandSources {
  registry: Registry;
  /** All current definitions. */
  directory: Directory;
  config: NotificationSources['config'] &
    MessageChannelSources['config'] &
    ForwardingSources['config'] &
    VideoSources['config'] &
    JobSources['config'] &
    ShareSources['config'] &
    HistorySources['config'] &
    PasskeySources['config'] &
    CommandSources['config'];
  hub: Pick<
    Hub,
    'latest' | 'connections' | 'refusedTerminal' | 'unknownTerminals' | 'unknownDevices' | 'publish' | 'hit'
  >;
  trackReport: Owned<TrackReport>;
  reportArchive: Owned<ReportArchive>;
  geocoder: Geocoder;
  tokens: Tokens;
  /** Slows down password guessing. */
  brake: LoginBrake;
}

/**
 * Everything that one caller may access, and nothing else. Every read and write of a handler goes through this class,
 * which checks it by `rights.ts`. Objects that the caller may not see are reported as not found, and those that may be
 * seen but not changed as forbidden.
 */
export class Access {
  readonly #caller: User;

  readonly #sources: Sources;

  /**
   * @param by session or key, and address of the caller, for the audit trail
   * @param claim of the idempotency key of a request that creates something
   */
  constructor(
    caller: User,
    sources: Sources,
    by: { sessionId: SessionId | null; apiKeyId?: ApiKeyId | null; address: string },
    claim: Claim | null = null,
  ) {
    this.#caller = caller;
    this.#sources = { ...sources, registry: sources.registry.as({ user: accountOf(caller), ...by }, claim) };
  }

  /** Vehicles that one caller may see: their profiles, current state and history. */
  get vehicles(): VehicleAccess {
    return new VehicleAccess(this.#caller, this.#sources);
  }

  /** Vehicle groups that one caller may see, and the accounts with access to them. */
  get groups(): GroupAccess {
    return new GroupAccess(this.#caller, this.#sources);
  }

  /** Accounts that one caller may see, their own included. */
  get users(): UserAccess {
    return new UserAccess(this.#caller, this.#sources);
  }

  /** Geofences that one caller may see. */
  get geofences(): GeofenceAccess {
    return new GeofenceAccess(this.#caller, this.#sources);
  }

  /** The audit trail, as one caller may see it. */
  get audit(): AuditAccess {
    return new AuditAccess(this.#caller, this.#sources);
  }

  /** Imports and exports of vehicles, drivers and geofences. */
  get vehicleImport(): VehicleImport {
    return new VehicleImport(this.#bulk);
  }

  get driverImport(): DriverImport {
    return new DriverImport(this.#bulk);
  }

  get geofenceImport(): GeofenceImport {
    return new GeofenceImport(this.#bulk);
  }

  /** The same change to many objects. */
  get bulkChanges(): BulkChanges {
    return new BulkChanges(this.#bulk);
  }

  /** The groups that the caller may see, by name. */
  groupNames(): GroupNames {
    return this.#bulk.groupNames();
  }

  get #bulk(): BulkScope {
    return new BulkScope(this, this.#caller, this.#sources);
  }

  /** The caller's notification rules. */
  get notificationRules(): RuleAccess {
    return new RuleAccess(this.#caller, this.#sources);
  }

  /** Trial runs of rules on past events. */
  get ruleTrials(): RuleTrials {
    return new RuleTrials(this.#caller, this.#sources, this.notificationRules);
  }

  /** The caller's notifications, with their deliveries. */
  get inbox(): InboxAccess {
    return new InboxAccess(this.#caller, this.#sources);
  }

  /** Incidents that the caller deals with. */
  get incidents(): IncidentAccess {
    return new IncidentAccess(this.#caller, this.#sources);
  }

  /** The caller's message channels. */
  get messageChannels(): MessageChannelAccess {
    return new MessageChannelAccess(this.#caller, this.#sources);
  }

  /** Destinations to which the caller's positions and events are forwarded. */
  get forwarding(): ForwardingAccess {
    return new ForwardingAccess(this.#caller, this.#sources);
  }

  /** The caller's jobs. */
  get jobs(): JobAccess {
    return new JobAccess(this.#caller, this.#sources);
  }

  /** The caller's API keys. */
  get apiKeys(): ApiKeyAccess {
    return new ApiKeyAccess(this.#caller, this.#sources);
  }

  /** E-mail addresses of accounts, and invitations. */
  get accountMails(): AccountMailAccess {
    return new AccountMailAccess(this.#caller, this.#sources);
  }

  /** The caller's second factor. */
  get secondFactor(): SecondFactorAccess {
    return new SecondFactorAccess(this.#caller, this.#sources);
  }

  /** The caller's passkeys. */
  get passkeys(): PasskeyAccess {
    return new PasskeyAccess(this.#caller, this.#sources);
  }

  /** The caller's link to an external sign-in provider. */
  get externalSignIn(): ExternalSignInAccess {
    return new ExternalSignInAccess(this.#caller, this.#sources);
  }

  /** The caller's schedules of reports. */
  get reportSchedules(): ReportScheduleAccess {
    return new ReportScheduleAccess(this.#caller, this.#sources);
  }

  /** The caller's drivers. */
  get drivers(): DriverAccess {
    return new DriverAccess(this.#caller, this.#sources);
  }

  /** Driver codes that no driver has. */
  unknownDriverCodes(fromMs: number, toMs: number, signal: AbortSignal): Promise<UnknownCode[]> {
    return this.drivers.unknownCodes(this.#sources.reportArchive, fromMs, toMs, signal);
  }

  /** Links that share the caller's vehicles with others. */
  get shareLinks(): ShareAccess {
    return new ShareAccess(this.#caller, this.#sources);
  }

  /** Descriptions of places, with the caller's own names. */
  placesOf(points: readonly Point[]): Promise<(NamedPlace | null)[]> {
    return new PlaceAccess(this.#caller, this.#sources, ADDRESSES_MS).placesOf(points);
  }

  /** Data of the caller's reports. */
  get reports(): ReportAccess {
    return new ReportAccess(this.#caller, this.#sources);
  }

  /** Video of the caller's vehicles. */
  get video(): VideoAccess {
    return new VideoAccess(this.#caller, this.#sources);
  }

  /** Counters of vehicles, with corrections. */
  get counters(): CounterAccess {
    return new CounterAccess(this.#maintenance);
  }

  /** Planned maintenance of vehicles. */
  get maintenancePlans(): PlanAccess {
    return new PlanAccess(this.#maintenance);
  }

  /** Services done to vehicles. */
  get serviceRecords(): ServiceAccess {
    return new ServiceAccess(this.#maintenance);
  }

  get maintenanceImport(): MaintenanceImport {
    return new MaintenanceImport(this.#maintenance);
  }

  get #maintenance(): MaintenanceScope {
    return new MaintenanceScope(this.#caller, this.#sources);
  }

  /** Whether the caller may know which account made something. */
  showsAuthor(id: User['id'] | null): boolean {
    return showsAuthor(this.#caller, this.#sources.directory, id);
  }

  /** The caller's stored preferences; null if never set. */
  preferences(): Promise<object | null> {
    return this.#sources.registry.preferences.get(this.#caller.id);
  }

  changePreferences<T extends object>(revise: (stored: object | null) => T): Promise<T> {
    return this.#sources.registry.preferences.change(this.#caller.id, revise);
  }

  /** The caller's report templates. */
  reportTemplates(): Promise<TemplateList> {
    return this.#sources.registry.reportTemplates.get(this.#caller.id);
  }

  /** @throws {Problem} when the list's version differs from `ifMatch` */
  setReportTemplates(ifMatch: number | null, templates: readonly object[]): Promise<TemplateList> {
    return this.#sources.registry.reportTemplates.change(this.#caller.id, ({ version }) => {
      if (ifMatch !== null && ifMatch !== version)
        throw new Problem('stale', 'Read it again, and repeat the change.', {
          headers: { etag: `"${version}"` },
        });
      return templates;
    });
  }

  /** Exports what is held about a driver, for callers who manage the driver. */
  async exportDriver(id: DriverId): Promise<Job> {
    requirePerson(this.#caller);
    const { name, dealerId } = await this.drivers.kept(id);
    return this.jobs.addExport({ subject: 'driver', id }, name, dealerId === null ? [] : [dealerId]);
  }

  /** @throws {Problem} unless the caller is an operator: only operators manage the service itself */
  requireOperator(): void {
    new Checks(this.#caller, this.#sources).requireOperator('This is for operators.');
  }
}
