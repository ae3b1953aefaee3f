import {
  asChange,
  type Definition,
  type DefinitionChange,
  type DefinitionKind,
  type QuotaLimits,
  SYSTEM_CLOCK,
  type Vehicle,
  type VehicleId,
} from '@outrider/domain';
import { CamelCasePlugin, Kysely, sql } from 'kysely';
import { AccountLinks } from './accounts/account-links.ts';
import { AccountNotices } from './accounts/account-notices.ts';
import { ApiKeys } from './accounts/api-keys.ts';
import { Erasures } from './accounts/erasures.ts';
import { ExternalIdentities } from './accounts/external-identities.ts';
import { MailAddresses } from './accounts/mail-addresses.ts';
import { MailCounts } from './accounts/mail-counts.ts';
import { Passkeys } from './accounts/passkeys.ts';
import { PersonalData } from './accounts/personal-data.ts';
import { Preferences } from './accounts/preferences.ts';
import { SecondFactors } from './accounts/second-factors.ts';
import { ServiceKeys } from './accounts/service-keys.ts';
import { Sessions } from './accounts/sessions.ts';
import { Users } from './accounts/users.ts';
import type { Actor } from './audit/actor.ts';
import { Audit } from './audit/audit.ts';
import {
  allDefinitions,
  type DefinitionVersion,
  definitionsOf,
  definitionVersions,
  outrunVersions,
} from './definitions/definition-versions.ts';
import { prepareSecrets, rotateSecrets, type SecretsState } from './definitions/stored-secrets.ts';
import { type WrittenChange, writeDefinitions } from './definitions/write-definitions.ts';
import { Counters } from './fleet/counters.ts';
import { CustomCounters } from './fleet/custom-counters.ts';
import { DriverAssignments } from './fleet/driver-assignments.ts';
import { Drivers } from './fleet/drivers.ts';
import { Geofences } from './fleet/geofences.ts';
import { Groups } from './fleet/groups.ts';
import { HistoryLimits } from './fleet/history-limits.ts';
import { Maintenance } from './fleet/maintenance.ts';
import { ServiceRecords } from './fleet/service-records.ts';
import { ShareLinks } from './fleet/share-links.ts';
import { VehicleCommands } from './fleet/vehicle-commands.ts';
import { moveVehicles, type VehicleMove } from './fleet/vehicle-moves.ts';
import { Vehicles } from './fleet/vehicles.ts';
import { ChannelTests } from './notifications/channel-tests.ts';
import { Deliveries } from './notifications/deliveries.ts';
import { ForwardingDestinations } from './notifications/forwarding-destinations.ts';
import { Inboxes } from './notifications/inboxes.ts';
import { Incidents } from './notifications/incidents.ts';
import { MessageChannels } from './notifications/message-channels.ts';
import { NotificationRules } from './notifications/notification-rules.ts';
import { Notifications } from './notifications/notifications.ts';
import { WaitingNotifications } from './notifications/waiting-notifications.ts';
import { ReportDeliveries } from './reports/report-deliveries.ts';
import { ReportFiles } from './reports/report-files.ts';
import { ReportSchedules } from './reports/report-schedules.ts';
import { ReportTemplates } from './reports/report-templates.ts';
import { growingIds } from './store/growing-ids.ts';
import { type Claim, Idempotency } from './store/idempotency.ts';
import { migrate } from './store/migrate.ts';
import { Outbox } from './store/outbox.ts';
import { Quotas } from './store/quotas.ts';
import { RecentChanges } from './store/recent-changes.ts';
import { RowSums } from './store/row-sums.ts';
import type { Tables } from './store/schema.ts';
import { NO_SECRETS, type Secrets } from './store/secrets.ts';
import { NodeSqliteDialect, openDatabase } from './store/sqlite.ts';
import { type ChangeListener, type DialectName, Store } from './store/store.ts';
import { StoredVideos } from './video/stored-videos.ts';
import { VideoProfiles } from './video/video-profiles.ts';
import { VideoTaskQueue } from './video/video-task-queue.ts';
import { VideoTasks } from './video/video-tasks.ts';
import { Jobs } from './work/jobs.ts';
import { NothingDue } from './work/nothing-due.ts';

/** Tables and columns have snake_case names in the database, and camelCase names in code. */
export const PLUGINS = [new CamelCasePlugin()];

/** Location of the database, and sources of time and ids. */
export type RegistryOptions = (
  | {
      /** SQLite file; made when missing. */
      path: string;
    }
  | {
      /** PostgreSQL. */
      url: string;
      /** Schema of the tables, made when missing: a plain lower-case name. Default `public`. */
      schema?: string;
      /** Called when a connection broke while it was idle; it is replaced. Default: a process warning. */
      onIdleError?: (error: Error) => void;
    }
) & {
  /** Unix milliseconds. */
  now?: () => number;
  /** UUIDs that grow with time: lists are sorted by them. */
  newId?: () => string;
  /** Limits of accounts and dealers for which none are set. Default: {@link DEFAULT_QUOTAS} of the domain. */
  quotas?: QuotaLimits;
  /** Seals stored secrets. Default: secrets are stored in clear, for tests. */
  secrets?: Secrets;
  /** Removes secrets that no key opens, instead of refusing to open the registry. */
  forgetLostSecrets?: boolean;
  /**
   * Called once with the number of secrets that were in clear and are sealed now, and whether secrets stay in clear for
   * want of a key.
   */
  onSecrets?: (state: SecretsState) => void;
};

/** All definitions: one repository for each aggregate, and the outbox of their changes. */
export class Registry {
  readonly users: Users;
  readonly sessions: Sessions;
  readonly secondFactors: SecondFactors;
  readonly passkeys: Passkeys;
  readonly accountLinks: AccountLinks;
  readonly accountNotices: AccountNotices;
  readonly externalIdentities: ExternalIdentities;
  readonly apiKeys: ApiKeys;
  readonly vehicles: Vehicles;
  readonly groups: Groups;
  readonly geofences: Geofences;
  readonly drivers: Drivers;
  readonly driverAssignments: DriverAssignments;
  readonly notificationRules: NotificationRules;
  readonly notifications: Notifications;
  readonly inboxes: Inboxes;
  readonly incidents: Incidents;
  readonly waitingNotifications: WaitingNotifications;
  readonly deliveries: Deliveries;
  readonly channelTests: ChannelTests;
  readonly messageChannels: MessageChannels;
  readonly forwardingDestinations: ForwardingDestinations;
  readonly serviceKeys: ServiceKeys;
  readonly mailAddresses: MailAddresses;
  readonly mailCounts: MailCounts;
  readonly jobs: Jobs;
  readonly erasures: Erasures;
  readonly historyLimits: HistoryLimits;
  readonly reportFiles: ReportFiles;
  readonly reportSchedules: ReportSchedules;
  readonly reportDeliveries: ReportDeliveries;
  readonly videoProfiles: VideoProfiles;
  readonly videoTasks: VideoTasks;
  readonly videoQueue: VideoTaskQueue;
  readonly storedVideos: StoredVideos;
  readonly outbox: Outbox;
  readonly recentChanges: RecentChanges;
  readonly audit: Audit;
  readonly idempotency: Idempotency;
  readonly quotas: Quotas;
  readonly personalData: PersonalData;
  readonly preferences: Preferences;
  readonly reportTemplates: ReportTemplates;
  readonly shareLinks: ShareLinks;
  readonly vehicleCommands: VehicleCommands;
  readonly counters: Counters;
  readonly customCounters: CustomCounters;
  readonly maintenance: Maintenance;
  readonly serviceRecords: ServiceRecords;
  /** Checksums of an embedded registry; null: the server may have checksums of its own, see {@link hasPageSums}. */
  readonly rowSums: RowSums | null;
  readonly #store: Store;

  constructor(store: Store, rowSums: RowSums | null) {
    this.#store = store;
    this.rowSums = rowSums;
    this.users = new Users(store);
    this.sessions = new Sessions(store);
    this.secondFactors = new SecondFactors(store);
    this.passkeys = new Passkeys(store);
    this.accountLinks = new AccountLinks(store);
    this.accountNotices = new AccountNotices(store);
    this.externalIdentities = new ExternalIdentities(store);
    this.apiKeys = new ApiKeys(store);
    this.vehicles = new Vehicles(store);
    this.groups = new Groups(store);
    this.geofences = new Geofences(store);
    this.drivers = new Drivers(store);
    this.driverAssignments = new DriverAssignments(store);
    this.notificationRules = new NotificationRules(store);
    this.notifications = new Notifications(store);
    this.inboxes = new Inboxes(store);
    this.incidents = new Incidents(store);
    this.waitingNotifications = new WaitingNotifications(store);
    this.deliveries = new Deliveries(store);
    this.channelTests = new ChannelTests(store);
    this.messageChannels = new MessageChannels(store);
    this.forwardingDestinations = new ForwardingDestinations(store);
    this.serviceKeys = new ServiceKeys(store);
    this.mailCounts = new MailCounts(store);
    this.mailAddresses = new MailAddresses(store, this.mailCounts);
    this.jobs = new Jobs(store);
    this.erasures = new Erasures(store);
    this.historyLimits = new HistoryLimits(store);
    this.reportFiles = new ReportFiles(store);
    this.reportSchedules = new ReportSchedules(store);
    this.reportDeliveries = new ReportDeliveries(store);
    this.videoProfiles = new VideoProfiles(store);
    this.videoTasks = new VideoTasks(store);
    this.videoQueue = new VideoTaskQueue(store);
    this.storedVideos = new StoredVideos(store);
    this.outbox = new Outbox(store);
    this.recentChanges = new RecentChanges(store);
    this.audit = new Audit(store);
    this.idempotency = new Idempotency(store);
    this.quotas = new Quotas(store);
    this.personalData = new PersonalData(store);
    this.preferences = new Preferences(store);
    this.reportTemplates = new ReportTemplates(store);
    this.shareLinks = new ShareLinks(store);
    this.vehicleCommands = new VehicleCommands(store);
    this.counters = new Counters(store);
    this.customCounters = new CustomCounters(store);
    this.maintenance = new Maintenance(store);
    this.serviceRecords = new ServiceRecords(store);
  }

  /**
   * The same registry, whose changes the audit trail ascribes to the actor. Otherwise they are the service's own.
   *
   * @param claim taken with the first change, in its transaction; that change throws {@link AlreadyClaimedError} where
   * another request has it
   */
  as(actor: Actor, claim: Claim | null = null): Registry {
    return new Registry(this.#store.as(actor, claim), this.rowSums);
  }

  /**
   * Calls `listener` after each commit in this process, before the call that changed something resolves.
   *
   * @returns call it to unsubscribe
   */
  onChange(listener: ChangeListener): () => void {
    return this.#store.onChange(listener);
  }

  /** All current definitions, as changes; groups and users come before definitions that refer to them. */
  async snapshot(): Promise<DefinitionChange[]> {
    const changedAtMs = this.#store.now();
    // One snapshot for all the queries: a row and its groups must be of the same version.
    const reading = this.#store.db.transaction().setIsolationLevel('repeatable read');
    const definitions = await reading.execute(allDefinitions);
    return definitions.map((definition) => asChange(definition, changedAtMs));
  }

  /** Ids and versions of all definitions, in pages; groups and users come before definitions that refer to them. */
  definitionVersions(): AsyncGenerator<DefinitionVersion[]> {
    return definitionVersions(this.#store.db);
  }

  /** Current definitions of one kind; deleted ones are missing. */
  definitionsOf(kind: DefinitionKind, ids: readonly string[]): Promise<Definition[]> {
    return definitionsOf(this.#store.db, kind, ids);
  }

  /** Whether nothing was ever defined. */
  async isBlank(): Promise<boolean> {
    for await (const _ of this.definitionVersions()) return false;
    return (await this.recentChanges.newest()) === 0;
  }

  /**
   * Writes definitions unchanged, in place of those with the same ids. For a registry that lost them.
   *
   * @param changes everything that they refer to is among them, or exists
   */
  writeDefinitions(changes: readonly WrittenChange[]): Promise<void> {
    return this.#store.write((writer) => writeDefinitions(writer, changes, this.#store.secrets));
  }

  /**
   * Moves vehicles to another dealer: all of them, or none. Vehicles that the dealer already has are not changed.
   *
   * @returns by the ids of the vehicles, those that the dealer has now
   * @throws {UnknownReferenceError} when there is no such dealer
   * @throws {BulkError} naming those that can't be moved
   */
  moveVehicles(move: VehicleMove): Promise<Map<VehicleId, Vehicle>> {
    return moveVehicles(this.#store, this.vehicles, move);
  }

  /** Raises the versions of existing, unchanged definitions above these, which readers of the log have seen. */
  outrunVersions(seen: readonly DefinitionVersion[]): Promise<void> {
    return this.#store.write((writer) => outrunVersions(writer, seen));
  }

  /**
   * Seals all stored secrets with the first of the keys that this registry was opened with.
   *
   * @returns how many another key had sealed
   */
  rotateSecrets(): Promise<number> {
    return rotateSecrets(this.#store);
  }

  /** Whether a PostgreSQL server keeps checksums of its pages; true where the rows have their own. */
  async hasPageSums(): Promise<boolean> {
    if (this.rowSums !== null) return true;
    const { rows } = await sql<{ dataChecksums: string }>`show data_checksums`.execute(this.#store.db);
    return rows[0]?.dataChecksums === 'on';
  }

  /** @throws {Error} when the database does not answer */
  async ping(): Promise<void> {
    await sql`select 1`.execute(this.#store.db);
  }

  /** Lets running transactions finish and closes the database. */
  async close(): Promise<void> {
    await this.#store.db.destroy();
  }
}

/**
 * Opens the database and brings it to the newest schema.
 *
 * @throws {SecretsKeyError} when stored secrets need another key, or may not be stored without one
 * @throws {Error} when the database cannot be reached, opened or migrated
 */
export async function openRegistry(options: RegistryOptions): Promise<Registry> {
  const now = options.now ?? SYSTEM_CLOCK.now;
  const newId = options.newId ?? growingIds();
  const open = async (
    db: Kysely<Tables>,
    dialect: DialectName,
    nothingDue: NothingDue | null,
    rowSums: RowSums | null,
    schema?: string,
  ) => {
    const store = new Store(db, dialect, now, newId, nothingDue, options.quotas, options.secrets ?? NO_SECRETS);
    try {
      await migrate(db, schema, undefined, () => rowSums?.beforeMigration());
      rowSums?.install();
      if (options.secrets !== undefined) {
        const { sealed, inClear } = await prepareSecrets(store, options.forgetLostSecrets ?? false);
        // Rewrites the file, whose free pages still have the secrets in clear.
        if (sealed > 0 && dialect === 'sqlite') await sql`vacuum`.execute(db);
        options.onSecrets?.({ sealed, inClear });
      }
    } catch (error) {
      await db.destroy();
      throw error;
    }
    return new Registry(store, rowSums);
  };

  if ('path' in options) {
    const database = openDatabase(options.path);
    const rowSums = new RowSums(database);
    const dialect = new NodeSqliteDialect(database);
    const db = new Kysely<Tables>({ dialect, plugins: [...PLUGINS, rowSums.plugin()] });
    return open(db, 'sqlite', new NothingDue(() => dialect.version()), rowSums);
  }
  const schema = options.schema ?? 'public';
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) throw new Error(`${JSON.stringify(schema)} is no plain schema name`);
  // Loaded only where it is used: the client takes megabytes in each thread.
  const { postgresDialect } = await import('./store/postgres.ts');
  const onIdleError = options.onIdleError ?? ((error: Error) => process.emitWarning(error));
  return open(
    new Kysely({ dialect: postgresDialect(options.url, schema, onIdleError), plugins: PLUGINS }),
    'postgres',
    null,
    null,
    schema,
  );
}
