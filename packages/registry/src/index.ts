export type { AccountLinkPurpose, AccountLinks, LeasedAccountLink } from './account-links.ts';
export { ACCOUNT_NOTICES, type AccountNotice } from './account-notice-rows.ts';
export type { AccountNotices, LeasedAccountNotice } from './account-notices.ts';
export { type Actor, SERVICE } from './actor.ts';
export { type ApiKey, type ApiKeyFields, type ApiKeys, MAX_API_KEYS_PER_USER, type StoredApiKey } from './api-keys.ts';
export type { Audit, AuditEntry, AuditFilter } from './audit.ts';
export { AUDIT_ACTIONS, type AuditAction, type AuditedFields, dealersOfUser } from './audit-notes.ts';
export { BulkError, type BulkFailure, type BulkOutcome, type BulkWrite } from './bulk.ts';
export { type ChannelTest, type ChannelTestOutcome, type ChannelTests, MAX_TESTS_PER_MINUTE } from './channel-tests.ts';
export type { CountedOn, Counters, KeptCounters, NewCorrection } from './counters.ts';
export type { CustomCounterFields, CustomCounters } from './custom-counters.ts';
export type { DefinitionVersion } from './definition-versions.ts';
export {
  type Channel,
  DELIVERY_STATES,
  type Deliveries,
  type Delivery,
  type DeliveryAttempt,
  type DeliveryFilter,
  type DeliveryState,
  type EndpointHealth,
  type LeasedDelivery,
  type Outcome,
} from './deliveries.ts';
export { DeliverySlots, deliveryShares, type SlotWish } from './delivery-slots.ts';
export type { AssignmentQuestion, DriverAssignments } from './driver-assignments.ts';
export {
  type DriverFields,
  type DriverFilter,
  Drivers,
  type DriverWrite,
  MAX_CODES_OF_DRIVER,
  presentCodes,
} from './drivers.ts';
export {
  DEFAULT_ERASURE_GRACE_MS,
  ERASURE,
  type ErasedSubjects,
  type ErasureFacts,
  type Erasures,
} from './erasures.ts';
export * from './errors.ts';
export type { ExternalIdentities } from './external-identities.ts';
export { type FollowedRegistry, followRegistry } from './follow-registry.ts';
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
} from './forwarding-destinations.ts';
export type { DeletedGeofence, GeofenceFields, GeofenceFilter, GeofenceOwner, Geofences } from './geofences.ts';
export type { GroupFields, GroupFilter, Groups, MemberChange, MembersChanged } from './groups.ts';
export { ERASE_HISTORY, type HistoryLimit, type HistoryLimits, RETENTION } from './history-limits.ts';
export {
  type Claim,
  type Idempotency,
  type KeptAnswer,
  type Known,
  MAX_KEYS_PER_USER,
  type RepeatableRequest,
} from './idempotency.ts';
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
} from './jobs.ts';
export {
  type LeasedConfirmation,
  MAIL_ADDRESS_STATES,
  type MailAddress,
  type MailAddresses,
  type MailAddressState,
  type MailAddressStatus,
  type MailLimits,
} from './mail-addresses.ts';
export {
  byUrgency,
  type KeptState,
  MAX_FILES_PER_RECORD,
  MAX_PLANS_PER_DEALER,
  MAX_RECORDS_PER_VEHICLE,
  type Maintenance,
  type NotedServiceFile,
  type PlanBase,
  type PlanFields,
  pendingOf,
  type ServiceFields,
  type StoredServiceFile,
} from './maintenance.ts';
export type { MessageChannel, MessageChannels, MessageLimits } from './message-channels.ts';
export type {
  NotificationRuleFields,
  NotificationRuleFilter,
  NotificationRulePatch,
  NotificationRules,
  RuleActivity,
} from './notification-rules.ts';
export type {
  LicenceDraft,
  NotificationBatch,
  NotificationDraft,
  NotificationFilter,
  NotificationPage,
  NotificationProgress,
  Notifications,
} from './notifications.ts';
export type { Outbox, PendingChange } from './outbox.ts';
export type { Page, Paging } from './page.ts';
export { CHALLENGE_TTL_S, MAX_PASSKEYS_PER_USER, type Passkey, type Passkeys } from './passkeys.ts';
export { PasswordsBusyError } from './password.ts';
export type { PersonalData, PersonalRows } from './personal-data.ts';
export { probePostgres } from './probe-postgres.ts';
export type { Quotas } from './quotas.ts';
export type { ChangesAfter, RecentChanges } from './recent-changes.ts';
export * from './registry.ts';
export type {
  ListedReportDelivery,
  ReportDeliveries,
  ReportDelivery,
  ReportDeliveryOutcome,
} from './report-deliveries.ts';
export type { ReportFile, ReportFileFields, ReportFiles, StoredReport } from './report-files.ts';
export type {
  ReportScheduleFields,
  ReportSchedulePatch,
  ReportSchedules,
  ScheduledJob,
} from './report-schedules.ts';
export type { ReportTemplates, TemplateList } from './report-templates.ts';
export type { DamagedRow, RowSums } from './row-sums.ts';
export type { SecondFactor, SecondFactors } from './second-factors.ts';
export { keyId, Secrets, SecretsKeyError } from './secrets.ts';
export type { KeyPair, ServiceKeys } from './service-keys.ts';
export { MAX_SESSIONS_PER_USER, type Session, type Sessions } from './sessions.ts';
export type { ShareLink, ShareLinkFields, ShareLinkFilter, ShareLinks } from './share-links.ts';
export type { ChangeListener } from './store.ts';
export type { SecretsState } from './stored-secrets.ts';
export type { UserFields, UserFilter, UserPatch, Users } from './users.ts';
export {
  type CommandEnd,
  type CommandFilter,
  type CommandJudgement,
  MAX_OPEN_COMMANDS_PER_ACCOUNT,
  MAX_OPEN_COMMANDS_PER_VEHICLE,
  type NewCommand,
  type VehicleCommands,
} from './vehicle-commands.ts';
export { MOVED_HISTORIES, type MovedHistory, type VehicleMove } from './vehicle-moves.ts';
export type { VehicleFields, VehicleFilter, VehiclePatch, Vehicles, VehicleWrite } from './vehicles.ts';
export type { Presence, VideoProfileFields, VideoProfileFilter, VideoProfiles } from './video-profiles.ts';
export type { StoredVideo } from './video-task-rows.ts';
export type {
  FetchedFile,
  LeasedVideoTask,
  NewVideoTask,
  VehicleOfTask,
  VideoStep,
  VideoTaskFilter,
  VideoTasks,
  VideoUsage,
} from './video-tasks.ts';
export type { WaitingNotification, WaitingNotifications } from './waiting-notifications.ts';
export type { WrittenChange } from './write-definitions.ts';
