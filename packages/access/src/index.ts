export { Access, type Sources } from './access.ts';
export { type PasswordResetSources, requestPasswordReset, setPasswordByLink } from './accounts/account-mail-access.ts';
export { ApiKeyAccess, MAX_API_KEY_DAYS, MAX_GROUPS_OF_API_KEY } from './accounts/api-key-access.ts';
export {
  accountOfIdentity,
  type ClaimsMapping,
  type ExternalSignInSources,
  GRANTABLE,
  type Grantable,
  linkIdentity,
} from './accounts/external-sign-in.ts';
export { delayOf, LoginBrake } from './accounts/login-brake.ts';
export { MailPolicy, type MailPolicyConfig } from './accounts/mail-policy.ts';
export { noPasskeysHere } from './accounts/passkey-access.ts';
export { weaknessOf } from './accounts/password-strength.ts';
export { type ExportedPerson, exportOf, mayExport, PERSON_EXPORT } from './accounts/person-export.ts';
export type { AuditShown } from './audit-access.ts';
export type { DriverLine } from './bulk/driver-import.ts';
export type { GeofenceItem } from './bulk/geofence-import.ts';
export type { VehicleLine } from './bulk/vehicle-import.ts';
export {
  CommandAccess,
  type CommandConfig,
  type CommandSources,
  type CommandTypes,
  type CommandWish,
} from './command-access.ts';
export { Faults } from './faults.ts';
export { type CustomFilter, customMatcher, mergedAttributes } from './fleet/custom-fields.ts';
export type { UnknownCode } from './fleet/driver-access.ts';
export { GeofenceOwners } from './fleet/geofence-owners.ts';
export type { GroupNames } from './fleet/group-names.ts';
export type { SensorLine } from './fleet/sensor-import.ts';
export type { VehicleKey } from './fleet/vehicle-access.ts';
export * from './fleet/who-drove.ts';
export type { ForwardingChange, ForwardingTest, ForwardingWish } from './forwarding-access.ts';
export type { ErasableHistory, HistoryConfig, HistorySources, TakenHistory } from './history-access.ts';
export { type ErasureConfig, type JobAccess, MAX_RECALCULATED_DAYS, type ReportJobsConfig } from './job-access.ts';
export type { CounterAccess, CounterWish } from './maintenance/counter-access.ts';
export type { PlanLine, ReadingLine } from './maintenance/import-lines.ts';
export type { MaintenanceSources } from './maintenance/maintenance-scope.ts';
export type { PlanWish, ShownMaintenance } from './maintenance/plan-access.ts';
export type { ListedDelivery } from './notifications/inbox-access.ts';
export type { ListedIncident } from './notifications/incident-access.ts';
export type { PushAccessConfig } from './notifications/message-channel-access.ts';
export * from './notifications/reader.ts';
export type { ListedRule, RuleShown, RuleWish } from './notifications/rule-access.ts';
export { rulePlaces } from './notifications/rule-places.ts';
export type { EventReport, RuleTrial } from './notifications/rule-trials.ts';
export type { Owned } from './owned-archive.ts';
export { PlaceAccess, type PlaceSources } from './place-access.ts';
export {
  badField,
  badParameter,
  type InputError,
  jsonPointer,
  notFound,
  operatorOnly,
  PROBLEMS,
  Problem,
  type ProblemKind,
  scopeNeeded,
} from './problem.ts';
export { type QuotaPatch, quotaExceeded, quotasBody } from './quota-access.ts';
export { maySeeStill, questionFor, ReportAccess, unseenIn } from './report-access.ts';
export type { ListedSchedule, ScheduleWish } from './report-schedule-access.ts';
export {
  rightToDriver,
  rightToGeofence,
  rightToGroup,
  rightToNotificationRule,
  rightToUser,
  rightToVehicle,
} from './rights.ts';
export type { Search, SearchCursor } from './search.ts';
export {
  MAX_SHARED_TRACK_DAYS,
  MAX_SHARED_VEHICLES,
  type ShareConfig,
  type SharedLink,
  type SharedVehicle,
  type ShareSources,
  sharedLink,
  sharedPositions,
  sharedTracks,
} from './share-access.ts';
export {
  type ProfileShown,
  requireParallel,
  type TaskShown,
  type VideoConfig,
  type VideoFileShown,
  type VideoFiles,
} from './video-access.ts';
