export { Access, type AuditShown, type Sources, type VehicleKey } from './access.ts';
export type { GeofenceItem, VehicleLine } from './bulk-access.ts';
export { Faults } from './faults.ts';
export type { GroupNames } from './group-names.ts';
export { type ErasureConfig, type JobAccess, MAX_RECALCULATED_DAYS, type ReportJobsConfig } from './job-access.ts';
export { delayOf, LoginBrake } from './login-brake.ts';
export { MailPolicy, type MailPolicyConfig } from './mail-policy.ts';
export type { EventReport, ListedRule, RuleShown, RuleWish } from './notification-access.ts';
export { weaknessOf } from './password-strength.ts';
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
} from './problem.ts';
export { type QuotaPatch, quotaExceeded, quotasBody } from './quota-access.ts';
export { maySeeStill, questionFor, ReportAccess, unseenIn } from './report-access.ts';
export type { ListedSchedule, ScheduleWish } from './report-schedule-access.ts';
export { rightToGeofence, rightToGroup, rightToNotificationRule, rightToUser, rightToVehicle } from './rights.ts';
export type { Search, SearchCursor } from './search.ts';
export {
  type ProfileShown,
  requireParallel,
  type TaskShown,
  type VideoConfig,
  type VideoFileShown,
  type VideoFiles,
} from './video-access.ts';
