export { type Actor, SERVICE } from './actor.ts';
export type { Audit, AuditEntry, AuditFilter } from './audit.ts';
export { AUDIT_ACTIONS, type AuditAction, type AuditedFields } from './audit-notes.ts';
export { BulkError, type BulkFailure, type BulkOutcome, type BulkWrite } from './bulk.ts';
export {
  CHANNELS,
  type Channel,
  DELIVERY_STATES,
  type Deliveries,
  type Delivery,
  type DeliveryFilter,
  type DeliveryState,
  type EndpointHealth,
  type LeasedDelivery,
  type Outcome,
} from './deliveries.ts';
export { DeliverySlots, deliveryShares, type SlotWish } from './delivery-slots.ts';
export {
  DEFAULT_ERASURE_GRACE_MS,
  ERASURE,
  type ErasedSubjects,
  type ErasureFacts,
  type Erasures,
} from './erasures.ts';
export * from './errors.ts';
export { type FollowedRegistry, followRegistry } from './follow-registry.ts';
export type { DeletedGeofence, GeofenceFields, GeofenceFilter, GeofenceOwner, Geofences } from './geofences.ts';
export type { GroupFields, GroupFilter, Groups, MemberChange, MembersChanged } from './groups.ts';
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
export type {
  NotificationRuleFields,
  NotificationRuleFilter,
  NotificationRulePatch,
  NotificationRules,
} from './notification-rules.ts';
export type {
  NotificationBatch,
  NotificationDraft,
  NotificationFilter,
  NotificationPage,
  NotificationProgress,
  Notifications,
} from './notifications.ts';
export type { Outbox, PendingChange } from './outbox.ts';
export type { Page, Paging } from './page.ts';
export { PasswordsBusyError } from './password.ts';
export type { Quotas } from './quotas.ts';
export type { ChangesAfter, RecentChanges } from './recent-changes.ts';
export * from './registry.ts';
export type { ReportDeliveries, ReportDelivery, ReportDeliveryOutcome } from './report-deliveries.ts';
export type { ReportFile, ReportFileFields, ReportFiles, StoredReport } from './report-files.ts';
export type {
  ReportScheduleFields,
  ReportSchedulePatch,
  ReportSchedules,
  ScheduledJob,
} from './report-schedules.ts';
export { keyId, Secrets, SecretsKeyError } from './secrets.ts';
export { MAX_SESSIONS_PER_USER, type Session, type Sessions } from './sessions.ts';
export type { ChangeListener } from './store.ts';
export type { SecretsState } from './stored-secrets.ts';
export type { UserFields, UserFilter, UserPatch, Users } from './users.ts';
export type { VehicleFields, VehicleFilter, VehiclePatch, Vehicles, VehicleWrite } from './vehicles.ts';
export type { Presence, VideoProfileFields, VideoProfileFilter, VideoProfiles } from './video-profiles.ts';
export type { StoredVideo } from './video-task-rows.ts';
export type {
  FetchedFile,
  LeasedVideoTask,
  NewVideoTask,
  VideoStep,
  VideoTaskFilter,
  VideoTasks,
  VideoUsage,
} from './video-tasks.ts';
