export type { AccountLinkPurpose, AccountLinks, LeasedAccountLink } from './accounts/account-links.ts';
export { ACCOUNT_NOTICES, type AccountNotice } from './accounts/account-notice-rows.ts';
export type { AccountNotices, LeasedAccountNotice } from './accounts/account-notices.ts';
export {
  type ApiKey,
  type ApiKeyFields,
  type ApiKeys,
  MAX_API_KEYS_PER_USER,
  type StoredApiKey,
} from './accounts/api-keys.ts';
export {
  DEFAULT_ERASURE_GRACE_MS,
  ERASURE,
  type ErasedSubjects,
  type ErasureFacts,
  type Erasures,
} from './accounts/erasures.ts';
export type { ExternalIdentities } from './accounts/external-identities.ts';
export { MAIL_ADDRESS_STATES, type MailAddress, type MailAddressState } from './accounts/mail-address-rows.ts';
export type { LeasedConfirmation, MailAddresses, MailAddressStatus } from './accounts/mail-addresses.ts';
export type { MailCounts, MailLimits } from './accounts/mail-counts.ts';
export { CHALLENGE_TTL_S, MAX_PASSKEYS_PER_USER, type Passkey, type Passkeys } from './accounts/passkeys.ts';
export { PasswordsBusyError } from './accounts/password.ts';
export type { PersonalData, PersonalRows } from './accounts/personal-data.ts';
export type { SecondFactor, SecondFactors } from './accounts/second-factors.ts';
export type { KeyPair, ServiceKeys } from './accounts/service-keys.ts';
export { MAX_SESSIONS_PER_USER, type Session, type Sessions } from './accounts/sessions.ts';
export type { UserFields, UserFilter, UserPatch, Users } from './accounts/users.ts';
export { type Actor, SERVICE } from './audit/actor.ts';
export type { Audit, AuditEntry, AuditFilter } from './audit/audit.ts';
export { AUDIT_ACTIONS, type AuditAction, type AuditedFields, dealersOfUser } from './audit/audit-notes.ts';
export type { DefinitionVersion } from './definitions/definition-versions.ts';
export { type FollowedRegistry, followRegistry } from './definitions/follow-registry.ts';
export type { SecretsState } from './definitions/stored-secrets.ts';
export type { WrittenChange } from './definitions/write-definitions.ts';
export { BulkError, type BulkFailure, type BulkOutcome, type BulkWrite } from './fleet/bulk.ts';
export type { CountedOn, Counters, KeptCounters, NewCorrection } from './fleet/counters.ts';
export type { CustomCounterFields, CustomCounters } from './fleet/custom-counters.ts';
export type { AssignmentQuestion, DriverAssignments } from './fleet/driver-assignments.ts';
export {
  type DriverFields,
  type DriverFilter,
  Drivers,
  type DriverWrite,
  MAX_CODES_OF_DRIVER,
  presentCodes,
} from './fleet/drivers.ts';
export type { DeletedGeofence, GeofenceFields, GeofenceFilter, GeofenceOwner, Geofences } from './fleet/geofences.ts';
export type { GroupFields, GroupFilter, Groups, MemberChange, MembersChanged } from './fleet/groups.ts';
export { ERASE_HISTORY, type HistoryLimit, type HistoryLimits, RETENTION } from './fleet/history-limits.ts';
export {
  byUrgency,
  type KeptState,
  MAX_PLANS_PER_DEALER,
  type Maintenance,
  type PlanBase,
  type PlanFields,
  pendingOf,
} from './fleet/maintenance.ts';
export {
  MAX_FILES_PER_RECORD,
  MAX_RECORDS_PER_VEHICLE,
  type NotedServiceFile,
  type ServiceFields,
  type ServiceRecords,
  type StoredServiceFile,
} from './fleet/service-records.ts';
export type { ShareLink, ShareLinkFields, ShareLinkFilter, ShareLinks } from './fleet/share-links.ts';
export {
  type CommandEnd,
  type CommandFilter,
  type CommandJudgement,
  MAX_OPEN_COMMANDS_PER_ACCOUNT,
  MAX_OPEN_COMMANDS_PER_VEHICLE,
  type NewCommand,
  type VehicleCommands,
} from './fleet/vehicle-commands.ts';
export { MOVED_HISTORIES, type MovedHistory, type VehicleMove } from './fleet/vehicle-moves.ts';
export type { VehicleFields, VehicleFilter, VehiclePatch, Vehicles, VehicleWrite } from './fleet/vehicles.ts';
export {
  type ChannelTest,
  type ChannelTestOutcome,
  type ChannelTests,
  MAX_TESTS_PER_MINUTE,
} from './notifications/channel-tests.ts';
export {
  type Channel,
  DELIVERY_STATES,
  type Deliveries,
  type Delivery,
  type DeliveryAttempt,
  type DeliveryFilter,
  type DeliveryState,
  type LeasedDelivery,
  type Outcome,
} from './notifications/deliveries.ts';
export type { EndpointHealth } from './notifications/delivery-circuits.ts';
export { DeliverySlots, deliveryShares, type SlotWish } from './notifications/delivery-slots.ts';
export {
  type ForwardingDestination,
  type ForwardingDestinations,
  type ForwardingFields,
  type ForwardingFilter,
  type ForwardingGap,
  type ForwardingProgress,
  type ForwardingSecrets,
  type ForwardingSettlement,
  type LeasedDestination,
  MAX_DESTINATIONS_PER_USER,
} from './notifications/forwarding-destinations.ts';
export type { Inboxes, NotificationFilter, NotificationPage, NotificationProgress } from './notifications/inboxes.ts';
export {
  type IncidentAudience,
  type IncidentFilter,
  type Incidents,
  MAX_INCIDENT_ENTRIES,
} from './notifications/incidents.ts';
export type { MessageChannel, MessageChannels, MessageLimits } from './notifications/message-channels.ts';
export type {
  NotificationRuleFields,
  NotificationRuleFilter,
  NotificationRulePatch,
  NotificationRules,
  RuleActivity,
} from './notifications/notification-rules.ts';
export type {
  LicenceDraft,
  NotificationBatch,
  NotificationDraft,
  Notifications,
} from './notifications/notifications.ts';
export type { WaitingNotification, WaitingNotifications } from './notifications/waiting-notifications.ts';
export * from './registry.ts';
export type {
  ListedReportDelivery,
  ReportDeliveries,
  ReportDelivery,
  ReportDeliveryOutcome,
} from './reports/report-deliveries.ts';
export type { ReportFile, ReportFileFields, ReportFiles, StoredReport } from './reports/report-files.ts';
export type {
  ReportScheduleFields,
  ReportSchedulePatch,
  ReportSchedules,
  ScheduledJob,
} from './reports/report-schedules.ts';
export type { ReportTemplates, TemplateList } from './reports/report-templates.ts';
export * from './store/errors.ts';
export {
  type Claim,
  type Idempotency,
  type KeptAnswer,
  type Known,
  MAX_KEYS_PER_USER,
  type RepeatableRequest,
} from './store/idempotency.ts';
export type { Outbox, PendingChange } from './store/outbox.ts';
export type { Page, Paging } from './store/page.ts';
export { probePostgres } from './store/probe-postgres.ts';
export type { Quotas } from './store/quotas.ts';
export type { ChangesAfter, RecentChanges } from './store/recent-changes.ts';
export type { DamagedRow, RowSums } from './store/row-sums.ts';
export { keyId, Secrets, SecretsKeyError } from './store/secrets.ts';
export type { ChangeListener } from './store/store.ts';
export type { StoredVideos, VideoUsage } from './video/stored-videos.ts';
export type { Presence, VideoProfileFields, VideoProfileFilter, VideoProfiles } from './video/video-profiles.ts';
export type { FetchedFile, LeasedVideoTask, VideoStep, VideoTaskQueue } from './video/video-task-queue.ts';
export type { StoredVideo } from './video/video-task-rows.ts';
export type { NewVideoTask, VehicleOfTask, VideoTaskFilter, VideoTasks } from './video/video-tasks.ts';
export {
  JOB_STATES,
  type Job,
  type JobFacts,
  type JobFields,
  type JobFilter,
  type JobLeaseOptions,
  type JobOutcome,
  type JobProgress,
  type JobState,
  type Jobs,
  type LeasedJob,
  MAX_OPEN_JOBS_PER_USER,
  type MergeJobs,
  type ServiceJobFields,
} from './work/jobs.ts';
