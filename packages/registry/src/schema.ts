import type { Unbranded, VehicleFieldValues } from '@outrider/domain';
import type { Generated } from 'kysely';

/** 0 or 1: the one form of truth that SQLite and PostgreSQL store alike. */
export type Flag = 0 | 1;

export interface UserRow {
  id: string;
  version: number;
  login: string;
  /** The login as it is compared: see `loginKey`. */
  loginKey: string;
  name: string;
  role: string;
  dealerId: string | null;
  /** The account itself was blocked. */
  blocked: Flag;
  /** Its dealer is blocked: then it is blocked too, until the dealer is unblocked. */
  dealerBlocked: Flag;
  apiAccess: Flag;
  /** Names of services, separated by commas. */
  services: string;
}

export interface CredentialRow {
  userId: string;
  /** PHC string. */
  passwordHash: string;
  changedAtMs: number;
}

export interface SessionRow {
  id: string;
  userId: string;
  createdAtMs: number;
  lastUsedAtMs: number;
  expiresAtMs: number;
  address: string;
  userAgent: string;
}

/** Where an account was logged in from. */
export interface LoginSourceRow {
  userId: string;
  /** What the address is counted by: an IPv4 address, a /64 of IPv6. */
  source: string;
  lastLoginAtMs: number;
}

export interface VehicleRow extends Unbranded<VehicleFieldValues> {
  id: string;
  version: number;
  /** JSON; null: anyone who knows the id, as before terminals were bound. */
  terminalAccess: string | null;
  dealerId: string | null;
}

/** The dealer whose vehicle had a terminal last, where the terminal sent data for it. */
export interface TerminalHolderRow {
  terminalId: string;
  dealerId: string | null;
  releasedAtMs: number;
}

export interface GroupRow {
  id: string;
  version: number;
  name: string;
  dealerId: string | null;
  /** The dealer's id, or `operator`: names are unique within it, and NULL never equals NULL. */
  nameScope: string;
}

export interface GeofenceRow {
  id: string;
  version: number;
  name: string;
  ownerId: string;
  /** `Shape` as JSON. */
  shape: string;
  /** 1: all that the owner may see; 0: the groups of `geofenceGroups`, of which there may be none. */
  watchesAll: Flag;
  speedLimitKmh: number | null;
  minDwellSeconds: number;
  /** Points of its shape. */
  vertices: number;
}

/** What a user set for themselves. */
export interface PreferencesRow {
  userId: string;
  /** JSON. */
  value: string;
}

/** A limit that was set for an account or a dealer. */
export interface QuotaLimitRow {
  userId: string;
  scope: string;
  kind: string;
  maxValue: number;
}

/** One of the groups that a vehicle, a user or a geofence (`memberId`) names. */
export interface MemberRow {
  groupId: string;
  memberId: string;
}

export interface RecentChangeRow {
  seq: number;
  /** `DefinitionChange` as JSON. */
  change: string;
}

export interface DeletedGeofenceRow {
  id: string;
  name: string;
  ownerId: string;
  /** The owner's dealer when it was deleted. */
  dealerId: string | null;
  deletedAtMs: number;
}

export interface OutboxRow {
  seq: Generated<number>;
  kind: string;
  id: string;
  version: number;
  /** `DefinitionChange` as JSON. */
  change: string;
}

/** A line of the audit trail. */
export interface AuditRow {
  id: string;
  atMs: number;
  action: string;
  userId: string | null;
  userLogin: string | null;
  userRole: string | null;
  userDealerId: string | null;
  sessionId: string | null;
  address: string | null;
  subjectKind: string;
  subjectId: string | null;
  subjectName: string;
  /** Fields as JSON. */
  before: string | null;
  after: string | null;
}

/** Which dealers a line of the audit trail concerns. */
export interface AuditDealerRow {
  dealerId: string;
  entryId: string;
}

export interface NotificationRuleRow {
  id: string;
  version: number;
  ownerId: string;
  name: string;
  /** Null: active. */
  inactiveReason: string | null;
  /** 1: the vehicles of `notificationRuleReferences`, of which there may be none; 0: all. */
  namesVehicles: Flag;
  namesGroups: Flag;
  namesGeofences: Flag;
  /** The rest of the rule as JSON: nothing is asked by it. */
  terms: string;
  webhookSecret: string | null;
}

/** Something that a rule names. */
export interface RuleReferenceRow {
  ruleId: string;
  kind: 'vehicle' | 'group' | 'geofence';
  thingId: string;
}

/** The fix of a rule's last notification about a vehicle: kept where the rule has an interval. */
export interface RuleFiringRow {
  ruleId: string;
  vehicleId: string;
  fixTimeMs: number;
}

/** How many notifications a user was given, and up to which they are forgotten. */
export interface NotificationCounterRow {
  userId: string;
  lastNumber: number;
  forgottenNumber: number;
}

export interface NotificationRow {
  id: string;
  userId: string;
  /** Grows by one with each notification of the user. */
  number: number;
  ruleId: string;
  ruleVersion: number;
  ruleName: string;
  eventId: string;
  phase: string;
  vehicleId: string;
  vehicleName: string;
  geofenceName: string | null;
  createdAtMs: number;
  readAtMs: number | null;
  /** `FleetEvent` as JSON. */
  event: string;
}

export interface DeliveryRow {
  id: string;
  notificationId: string;
  userId: string;
  ruleId: string;
  channel: string;
  target: string;
  /** Who has to take it: of one endpoint only so many are sent at a time. */
  endpoint: string;
  state: string;
  attempts: number;
  createdAtMs: number;
  /** From when it is due; while it is leased, when the lease ends. */
  nextAttemptAtMs: number;
  /** Until when it is tried. */
  giveUpAtMs: number;
  finishedAtMs: number | null;
  /** Who is sending it. */
  lease: string | null;
  lastError: string | null;
  responseStatus: number | null;
}

/** How an endpoint has answered the webhooks of an account lately. */
export interface DeliveryCircuitRow {
  userId: string;
  endpoint: string;
  /** 0: it works. Above: one delivery at a time tries it. */
  strikes: number;
  /** Attempts without an answer, one after the other. */
  failures: number;
  /** Nothing is sent to it before: its break, or the lease of the delivery that tries it. */
  retryAtMs: number;
  changedAtMs: number;
}

/** An e-mail address as one tenant may use it. */
export interface MailAddressRow {
  id: string;
  tenantId: string;
  address: string;
  /** As it is compared: in lower case. */
  addressKey: string;
  state: string;
  secret: string;
  generation: number;
  /** When its holder was last asked to confirm it. */
  askedAtMs: number | null;
  /** When a mail that asks for the confirmation is due, or the lease of its attempt ends; null: none is to be sent. */
  nextAttemptAtMs: number | null;
  attempts: number;
  lease: string | null;
  changedAtMs: number;
}

/** Mails of an hour or a day. */
export interface MailCountRow {
  counter: string;
  windowStartMs: number;
  sent: number;
  /** Not sent because of a limit. */
  suppressed: number;
}

/** When an owner was last served by a queue. */
export interface QueueTurnRow {
  queue: string;
  /** A tenant or an account. */
  owner: string;
  /** Grows by one with each turn of the queue. */
  turn: number;
  servedAtMs: number;
}

/** Work that takes long. */
export interface JobRow {
  id: string;
  kind: string;
  /** Null: the service's own. No foreign key: what somebody began is finished when they are gone. */
  userId: string | null;
  subjectId: string | null;
  /** The schedule of reports that made it, and for which of its periods: each has one at most. */
  scheduleId: string | null;
  period: string | null;
  /** JSON. */
  parameters: string;
  state: string;
  percent: number;
  positions: number;
  /** JSON. */
  result: string | null;
  error: string | null;
  /** JSON: where to go on. */
  resume: string | null;
  createdAtMs: number;
  startedAtMs: number | null;
  finishedAtMs: number | null;
  /** From when it may be taken: among those that may, the longest due comes first. */
  dueAtMs: number;
  /** Who has it in hand, … */
  lease: string | null;
  /** … and until when that is believed without a word. */
  leaseUntilMs: number;
  /** How often it was taken in hand since it last got further. */
  attempts: number;
  cancelRequested: Flag;
}

/** The file that a job made of a report. */
export interface ReportFileRow {
  /** In the store. */
  id: string;
  jobId: string;
  /** No foreign key: a file may outlive its user for a moment. */
  userId: string;
  name: string;
  mediaType: string;
  bytes: number;
  sha256: string;
  storedAtMs: number;
  /** JSON: ids of those that it may be about. */
  vehicles: string;
  geofences: string;
}

/** Reports that are made again and again. */
export interface ReportScheduleRow {
  id: string;
  version: number;
  ownerId: string;
  name: string;
  /** Null while it is active. */
  inactiveReason: string | null;
  /** JSON: what nothing is asked by. */
  terms: string;
  /** The last that a job was made for. */
  lastPeriod: string | null;
  /** When the next is due; null while it is not active. */
  nextAtMs: number | null;
  nextPeriod: string | null;
}

/** A report on its way to a mailbox. */
export interface ReportDeliveryRow {
  id: string;
  jobId: string;
  scheduleId: string;
  userId: string;
  target: string;
  state: string;
  attempts: number;
  createdAtMs: number;
  nextAttemptAtMs: number;
  giveUpAtMs: number;
  finishedAtMs: number | null;
  lease: string | null;
  lastError: string | null;
}

/** Where a consumer of the log goes on, saved with what it made. */
export interface ConsumerOffsetRow {
  consumer: string;
  logPartition: number;
  nextOffset: number;
  /** Of the log that the offset is of; null: not known. */
  logIdentity: string | null;
}

/** A request that made something, and how it was answered. */
export interface IdempotencyRow {
  userId: string;
  key: string;
  /** Of the request: `sha256:` and its hash, or a PHC string where it held a secret. */
  fingerprint: string;
  /** Null: not answered yet. */
  status: number | null;
  /** JSON. */
  headers: string | null;
  body: string | null;
  /** Of the body. */
  bytes: number;
  createdAtMs: number;
}

export interface VideoProfileRow {
  id: string;
  version: number;
  vehicleId: string;
  protocol: string;
  address: string;
  /** `protocol` and the address as it is compared; null where several may have it. */
  addressKey: string | null;
  /** The rest of the profile as JSON: nothing is asked by it. */
  terms: string;
}

/** Whether a video terminal is connected, as it was last reported. */
export interface VideoPresenceRow {
  profileId: string;
  online: Flag;
  sinceMs: number;
}

export interface VideoTaskRow {
  id: string;
  profileId: string;
  vehicleId: string;
  createdBy: string | null;
  channel: number;
  startMs: number;
  endMs: number;
  quality: string;
  audio: Flag;
  state: string;
  reason: string | null;
  detail: string | null;
  attempts: number;
  progressPercent: number;
  progressBytes: number;
  createdAtMs: number;
  changedAtMs: number;
  expiresAtMs: number;
  /** From when it may be tried; `NOT_BEFORE_WOKEN` where only the terminal is waited for. */
  nextAttemptAtMs: number;
  finishedAtMs: number | null;
  /** Who works on it. */
  lease: string | null;
  leaseUntilMs: number;
  /** What was fetched and is not stored yet: `FetchedFile` as JSON. */
  fetched: string | null;
  /** `VideoFile` as JSON. */
  file: string | null;
  /** Size of the stored file in bytes; 0 without one. */
  fileBytes: number;
  fileDeletedAtMs: number | null;
}

export interface VideoTransitionRow {
  taskId: string;
  nth: number;
  state: string;
  atMs: number;
  reason: string | null;
  detail: string | null;
}

/** Something that holds for the whole registry while its row exists. */
export interface RegistryFactRow {
  name: string;
}

/** The tables of the registry, by name. */
export interface Tables {
  users: UserRow;
  credentials: CredentialRow;
  sessions: SessionRow;
  loginSources: LoginSourceRow;
  vehicles: VehicleRow;
  vehicleGroups: GroupRow;
  geofences: GeofenceRow;
  vehicleGroupMembers: MemberRow;
  userGroupAccess: MemberRow;
  geofenceGroups: MemberRow;
  quotaLimits: QuotaLimitRow;
  preferences: PreferencesRow;
  outbox: OutboxRow;
  recentChanges: RecentChangeRow;
  deletedGeofences: DeletedGeofenceRow;
  audit: AuditRow;
  auditDealers: AuditDealerRow;
  idempotency: IdempotencyRow;
  notificationRules: NotificationRuleRow;
  notificationRuleReferences: RuleReferenceRow;
  ruleFirings: RuleFiringRow;
  notificationCounters: NotificationCounterRow;
  notifications: NotificationRow;
  deliveries: DeliveryRow;
  deliveryCircuits: DeliveryCircuitRow;
  queueTurns: QueueTurnRow;
  mailAddresses: MailAddressRow;
  mailCounts: MailCountRow;
  consumerOffsets: ConsumerOffsetRow;
  jobs: JobRow;
  reportFiles: ReportFileRow;
  reportSchedules: ReportScheduleRow;
  reportDeliveries: ReportDeliveryRow;
  terminalHolders: TerminalHolderRow;
  videoProfiles: VideoProfileRow;
  videoPresence: VideoPresenceRow;
  videoTasks: VideoTaskRow;
  videoTransitions: VideoTransitionRow;
  registryFacts: RegistryFactRow;
}
