import type { DRIVER_FIELDS, GEOFENCE_FIELDS, GROUP_FIELDS, VEHICLE_FIELDS } from '@outrider/domain';
import type { Generated } from 'kysely';
import type { FieldColumns } from './field-columns.ts';

/** 0 or 1: the one form of truth that SQLite and PostgreSQL store alike. */
export type Flag = 0 | 1;

/** Of what clients keep with a thing. */
export interface CustomColumns {
  externalId: string | null;
  /** JSON; null: none. */
  customAttributes: string | null;
}

export interface UserRow extends CustomColumns {
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
  /** Its time is over: then it is blocked too. */
  expired: Flag;
  apiAccess: Flag;
  /** Names of services, separated by commas. */
  services: string;
  /** Names of rights, separated by commas. */
  rights: string;
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
  /** How often it was refreshed: of its newest token. */
  generation: number;
  /** Of the newest token that was used. */
  usedGeneration: number;
  /** When that was used first. */
  usedAtMs: number | null;
}

/** An app that makes codes for an account. */
export interface SecondFactorRow {
  userId: string;
  /** Sealed; null: no key opens it any more. */
  secret: string | null;
  /** Null: it is proposed, and does not count yet. */
  confirmedAtMs: number | null;
  /** Time step of the newest code that was used. */
  lastStep: number;
}

export interface RecoveryCodeRow {
  userId: string;
  /** SHA-256. */
  codeHash: string;
}

/** Where e-mails about an account go. */
export interface AccountEmailRow {
  userId: string;
  address: string;
  /** As addresses are compared. */
  addressKey: string;
}

/** A link that is sent to an account. */
export interface AccountLinkRow {
  /** The account's: it has one at a time. */
  id: string;
  purpose: string;
  address: string;
  language: string;
  /** SHA-256; null: it was not sent yet. */
  tokenHash: string | null;
  expiresAtMs: number | null;
  nextAttemptAtMs: number | null;
  attempts: number;
  lease: string | null;
}

/** Who signs in to an account by another service. */
export interface ExternalIdentityRow {
  issuer: string;
  subject: string;
  userId: string;
  /** When an account that existed was linked; null: the first sign-in made the account. */
  linkedAtMs: number | null;
}

/** A passkey of an account: the public half of a key pair on a device. */
export interface PasskeyRow {
  id: string;
  userId: string;
  /** As the device names it: base64url. */
  credentialId: string;
  /** COSE key: base64url. */
  publicKey: string;
  /** Of its newest signature; 0: the device does not count. */
  counter: number;
  name: string;
  createdAtMs: number;
  lastUsedAtMs: number | null;
}

/** A challenge that a passkey has signed: it is good no more. */
export interface UsedChallengeRow {
  challenge: string;
  /** From then on it is refused without being kept. */
  expiresAtMs: number;
}

/** When the account expires. */
export interface AccountExpiryRow {
  userId: string;
  expiresAtMs: number;
}

/** An e-mail about a change of how an account signs in. */
export interface AccountNoticeRow {
  id: string;
  userId: string;
  /** `AccountNotice`. */
  kind: string;
  detail: string | null;
  address: string;
  createdAtMs: number;
  /** Also until when it is leased. */
  nextAttemptAtMs: number;
  attempts: number;
  lease: string | null;
}

/** For how many days the history of all vehicles of an owner is kept. */
export interface FleetRetentionRow {
  /** Id of a dealer, or `operator`. */
  owner: string;
  retentionDays: number;
}

/** A key of the API that stands for an account. */
export interface ApiKeyRow {
  id: string;
  version: number;
  userId: string;
  /** SHA-256 of the secret. */
  secretHash: string;
  name: string;
  /** Names, parted by commas. */
  scopes: string;
  /** Ids as JSON; null: not limited to groups. */
  groupIds: string | null;
  createdAtMs: number;
  /** Null: never. */
  expiresAtMs: number | null;
  lastUsedAtMs: number | null;
  lastUsedAddress: string | null;
}

/** Where an account was logged in from. */
export interface LoginSourceRow {
  userId: string;
  /** What the address is counted by: an IPv4 address, a /64 of IPv6. */
  source: string;
  lastLoginAtMs: number;
}

export interface VehicleRow extends FieldColumns<typeof VEHICLE_FIELDS>, CustomColumns {
  id: string;
  version: number;
  /** JSON; null: anyone who knows the id, as before terminals were bound. */
  terminalAccess: string | null;
  dealerId: string | null;
  /** JSON; null: none, as before there were any. */
  sensors: string | null;
  /** JSON; null: not suspended. */
  suspension: string | null;
  /** As JSON. */
  predecessor: string | null;
}

/** The dealer whose vehicle had a terminal last, where the terminal sent data for it. */
export interface TerminalHolderRow {
  terminalId: string;
  dealerId: string | null;
  releasedAtMs: number;
}

export interface GroupRow extends FieldColumns<typeof GROUP_FIELDS>, CustomColumns {
  id: string;
  version: number;
  dealerId: string | null;
  /** The dealer's id, or `operator`: names are unique within it, and NULL never equals NULL. */
  nameScope: string;
}

export interface GeofenceRow extends FieldColumns<typeof GEOFENCE_FIELDS>, CustomColumns {
  id: string;
  version: number;
  ownerId: string;
  /** `Shape` as JSON. */
  shape: string;
  /** 1: all that the owner may see; 0: the groups of `geofenceGroups`, of which there may be none. */
  watchesAll: Flag;
  /** Points of its shape. */
  vertices: number;
}

export interface DriverRow extends FieldColumns<typeof DRIVER_FIELDS>, CustomColumns {
  id: string;
  version: number;
  dealerId: string | null;
}

export interface DriverCodeRow {
  driverId: string;
  code: string;
  /** The dealer's id, or `operator`: codes are unique within it. */
  scope: string;
  sinceMs: number;
  untilMs: number | null;
}

export interface DriverAssignmentRow {
  id: string;
  vehicleId: string;
  driverId: string;
  fromMs: number;
  toMs: number | null;
}

/** What a user set for themselves. */
export interface PreferencesRow {
  userId: string;
  /** JSON. */
  value: string;
}

/** All report templates of a user. */
export interface ReportTemplatesRow {
  userId: string;
  version: number;
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

/** One of the groups that a vehicle, a user or a geofence (`memberId`) names or is shared with. */
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
  /** As it was when it was deleted. */
  ownerRole: Generated<string>;
  sharedWithOrganisation: Generated<Flag>;
  /** JSON. */
  sharedGroupIds: Generated<string>;
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
  apiKeyId: string | null;
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

/** A pair of keys of the service itself. */
export interface ServiceKeyRow {
  id: string;
  publicKey: string;
  /** Sealed. Null: it was lost. */
  privateKey: string | null;
}

/** Where a user has messages sent, by settings of their own. */
export interface MessageChannelRow {
  id: string;
  userId: string;
  kind: string;
  name: string;
  state: string;
  /** JSON. */
  settings: string;
  /** Sealed. */
  secret: string | null;
  endpoint: string;
  /** Of a browser. */
  fingerprint: string | null;
  createdAtMs: number;
  /** Of the code that confirms it. */
  codeHash: string | null;
  codeExpiresAtMs: number | null;
  codeTries: number;
  /** Messages of an hour and of a day, both counted from 1970. */
  hour: number;
  hourCount: number;
  day: number;
  dayCount: number;
}

/** Where an account has positions and events forwarded to, and how far that is. */
export interface ForwardingDestinationRow {
  id: string;
  version: number;
  ownerId: string;
  name: string;
  kind: string;
  /** JSON. */
  settings: string;
  secret: string | null;
  /** JSON, sealed: values by names. */
  secretHeaders: string | null;
  /** JSON. */
  secretHeaderNames: string | null;
  /** Host and port of the receiving system. */
  endpoint: string;
  /** JSON. */
  filter: string;
  /** `active` or `paused`. */
  state: string;
  createdAtMs: number;
  /** Where it begins that has no cursor yet. */
  beginAtMs: number;
  positionsCursor: string | null;
  eventsCursor: string | null;
  /** All that the log had by then was forwarded; null: nothing was looked at yet. */
  reachedAtMs: number | null;
  /** When that was saved. */
  savedAtMs: number | null;
  /** Attempts that failed since the last success. */
  failures: number;
  nextAttemptAtMs: number;
  lease: string | null;
  leasedUntilMs: number;
  lastError: string | null;
  lastErrorAtMs: number | null;
  lastSuccessAtMs: number | null;
  positionsSent: number;
  eventsSent: number;
  /** Items that the receiving system refused, or that its protocol can't carry. */
  refused: number;
  lastRefusal: string | null;
  /** What the log no longer had. */
  gapFromMs: number | null;
  gapToMs: number | null;
  gapNoticedAtMs: number | null;
}

/** An event that lasts, and a rule that waits for it to have lasted long enough. */
export interface WaitingNotificationRow {
  eventId: string;
  ruleId: string;
  vehicleId: string;
  dueMs: number;
  consumer: string;
  logPartition: number;
  /** JSON. */
  event: string;
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
  namesInside: Flag;
  namesOutside: Flag;
  namesDrivers: Flag;
  namesDriverGroups: Flag;
  /** The rest of the rule as JSON: nothing is asked by it. */
  terms: string;
  /** The whole URL, sealed. */
  webhookUrl: string | null;
  webhookSecret: string | null;
}

/** Up to when the history of a vehicle is erased. */
export interface HistoryLimitRow {
  vehicleId: string;
  beforeMs: number;
}

/** Something that a rule names. */
export interface RuleReferenceRow {
  ruleId: string;
  kind: 'vehicle' | 'group' | 'geofence' | 'inside' | 'outside' | 'driver' | 'driver-group';
  thingId: string;
}

/** The fix of a rule's last notification about a vehicle: kept where the rule has an interval. */
export interface RuleFiringRow {
  ruleId: string;
  vehicleId: string;
  fixTimeMs: number;
}

/** A rule has notified of a driver's licence, in this stage. */
export interface LicenceNoticeRow {
  ruleId: string;
  driverId: string;
  licenceExpiresOn: string;
  stage: string;
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
  /** Empty where no vehicle is part of it. */
  vehicleId: string;
  vehicleName: string;
  geofenceName: string | null;
  /** Set where it is about a driver; the name until the driver is deleted. */
  driverId: string | null;
  driverName: string | null;
  lastedMs: number | null;
  createdAtMs: number;
  readAtMs: number | null;
  /** `NotifiedEvent` as JSON. */
  event: string;
  severity: string;
  incidentId: string | null;
}

/** What has become of a notification that people have to deal with. */
export interface IncidentRow {
  /** That of the notification. */
  id: string;
  version: number;
  ownerId: string;
  shared: Flag;
  ruleId: string;
  eventId: string;
  severity: string;
  state: string;
  assigneeId: string | null;
  createdAtMs: number;
  changedAtMs: number;
  acknowledgedAtMs: number | null;
  closedAtMs: number | null;
  endedAtMs: number | null;
  escalateAtMs: number | null;
  escalatedAtMs: number | null;
}

export interface IncidentEntryRow {
  id: string;
  incidentId: string;
  atMs: number;
  kind: string;
  createdBy: string | null;
  assigneeId: string | null;
  text: string | null;
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
  /** The last attempts as JSON; null before the first, and in what earlier versions delivered. */
  attemptLog: string | null;
  /** 1: it says that an incident is escalated. */
  isEscalation: Flag;
}

export interface ChannelTestRow {
  id: string;
  userId: string;
  ruleId: string;
  channel: string;
  target: string;
  state: string;
  attempts: number;
  createdAtMs: number;
  nextAttemptAtMs: number;
  finishedAtMs: number | null;
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
  /** Of its reader; null: not known. */
  language: string | null;
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

/** A link that shows vehicles to anyone who has it. */
export interface ShareLinkRow {
  id: string;
  ownerId: string;
  /** SHA-256 in hexadecimal. */
  tokenHash: string;
  name: string | null;
  /** The interval of its tracks; null: where the vehicles are now. */
  fromMs: number | null;
  toMs: number | null;
  createdAtMs: number;
  expiresAtMs: number;
}

export interface ShareLinkVehicleRow {
  linkId: string;
  nth: number;
  vehicleId: string;
}

/** A command to the terminal of a vehicle. */
export interface VehicleCommandRow {
  id: string;
  vehicleId: string;
  type: string;
  /** JSON. */
  parameters: string;
  state: string;
  reason: string | null;
  answer: string | null;
  maxSpeedKmh: number | null;
  createdBy: string | null;
  ruleId: string | null;
  eventId: string | null;
  createdAtMs: number;
  changedAtMs: number;
  expiresAtMs: number;
  sentAtMs: number | null;
  finishedAtMs: number | null;
}

/** What was counted of a vehicle, and what its counters show. */
export interface VehicleCountersRow {
  vehicleId: string;
  revision: number;
  staleFromMs: number | null;
  contactAtMs: number;
  throughMs: number;
  /** `CounterState` as JSON; empty: nothing was counted yet. */
  state: string;
  /** Grows each time that something of the past changed. */
  epoch: number;
  sumOdometerM: number;
  sumEngineMs: number;
  firstOdometerM: number;
  firstEngineMs: number;
  odometerM: number;
  engineMs: number;
  /** {@link CustomSums} as JSON; null: none were counted. */
  sumCustom: string | null;
  firstCustom: string | null;
}

/** A counter that people made for a vehicle. */
export interface CustomCounterRow {
  id: string;
  version: number;
  vehicleId: string;
  name: string;
  unit: string;
  source: string;
  sensorId: string | null;
  startsAtMs: number;
  /** `CounterTerms` as JSON. */
  terms: string;
  createdAtMs: number;
}

/** The state before the first record of a day. */
export interface CounterDayRow {
  vehicleId: string;
  throughMs: number;
  state: string;
}

/** A time at which what was counted is asked for; null: not known yet. */
export interface CounterMarkRow {
  vehicleId: string;
  atMs: number;
  odometerM: number | null;
  engineMs: number | null;
  /** {@link CustomSums} as JSON; null: none were counted. */
  custom: string | null;
}

export interface CounterCorrectionRow {
  id: string;
  vehicleId: string;
  counter: string;
  atMs: number;
  value: number;
  note: string | null;
  createdBy: string | null;
  createdAtMs: number;
}

export interface MaintenancePlanRow {
  id: string;
  version: number;
  dealerId: string | null;
  name: string;
  description: string | null;
  vehicleId: string | null;
  groupId: string | null;
  everyM: number | null;
  everyEngineMs: number | null;
  everyDays: number | null;
  warningM: number | null;
  warningEngineMs: number | null;
  warningDays: number | null;
  counterName: string | null;
  everyCounter: number | null;
  warningCounter: number | null;
  startsAtMs: number;
  createdAtMs: number;
  changedAtMs: number;
}

export interface MaintenanceStateRow {
  planId: string;
  vehicleId: string;
  stage: string;
  share: number;
  /** `KeptState` as JSON. */
  state: string;
  /** Events that are to be put into the log. */
  unsent: number;
}

export interface ServiceRecordRow {
  id: string;
  vehicleId: string;
  planId: string | null;
  title: string;
  atMs: number;
  odometerM: number | null;
  engineMs: number | null;
  costMinor: number | null;
  currency: string | null;
  note: string | null;
  createdBy: string | null;
  createdAtMs: number;
}

export interface ServiceFileRow {
  id: string;
  recordId: string;
  vehicleId: string;
  name: string;
  mediaType: string;
  bytes: number;
  sha256: string;
  createdBy: string | null;
  createdAtMs: number;
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
  apiKeys: ApiKeyRow;
  secondFactors: SecondFactorRow;
  recoveryCodes: RecoveryCodeRow;
  passkeys: PasskeyRow;
  usedChallenges: UsedChallengeRow;
  externalIdentities: ExternalIdentityRow;
  accountExpiries: AccountExpiryRow;
  accountEmails: AccountEmailRow;
  accountLinks: AccountLinkRow;
  accountNotices: AccountNoticeRow;
  loginSources: LoginSourceRow;
  vehicles: VehicleRow;
  vehicleGroups: GroupRow;
  historyLimits: HistoryLimitRow;
  fleetRetentions: FleetRetentionRow;
  geofences: GeofenceRow;
  vehicleGroupMembers: MemberRow;
  userGroupAccess: MemberRow;
  geofenceGroups: MemberRow;
  drivers: DriverRow;
  driverGroupMembers: MemberRow;
  driverCodes: DriverCodeRow;
  driverAssignments: DriverAssignmentRow;
  geofenceShares: MemberRow;
  quotaLimits: QuotaLimitRow;
  preferences: PreferencesRow;
  reportTemplates: ReportTemplatesRow;
  outbox: OutboxRow;
  recentChanges: RecentChangeRow;
  deletedGeofences: DeletedGeofenceRow;
  audit: AuditRow;
  auditDealers: AuditDealerRow;
  idempotency: IdempotencyRow;
  notificationRules: NotificationRuleRow;
  notificationRuleReferences: RuleReferenceRow;
  ruleFirings: RuleFiringRow;
  licenceNotices: LicenceNoticeRow;
  waitingNotifications: WaitingNotificationRow;
  messageChannels: MessageChannelRow;
  forwardingDestinations: ForwardingDestinationRow;
  serviceKeys: ServiceKeyRow;
  notificationCounters: NotificationCounterRow;
  notifications: NotificationRow;
  incidents: IncidentRow;
  incidentEntries: IncidentEntryRow;
  deliveries: DeliveryRow;
  deliveryCircuits: DeliveryCircuitRow;
  channelTests: ChannelTestRow;
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
  shareLinks: ShareLinkRow;
  shareLinkVehicles: ShareLinkVehicleRow;
  vehicleCommands: VehicleCommandRow;
  vehicleCounters: VehicleCountersRow;
  counterDays: CounterDayRow;
  counterMarks: CounterMarkRow;
  counterCorrections: CounterCorrectionRow;
  customCounters: CustomCounterRow;
  maintenancePlans: MaintenancePlanRow;
  maintenanceStates: MaintenanceStateRow;
  serviceRecords: ServiceRecordRow;
  serviceFiles: ServiceFileRow;
  registryFacts: RegistryFactRow;
}
