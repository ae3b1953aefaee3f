import type { Generated } from 'kysely';

/** 0 or 1: the one form of truth that SQLite and PostgreSQL store alike. */
export type Flag = 0 | 1;

export interface UserRow {
  id: string;
  version: number;
  login: string;
  /** The login as it is compared: see `loginKey`. */
  login_key: string;
  name: string;
  role: string;
  dealer_id: string | null;
  /** The account itself was blocked. */
  blocked: Flag;
  /** Its dealer is blocked: then it is blocked too, until the dealer is unblocked. */
  dealer_blocked: Flag;
  api_access: Flag;
  /** Names of services, separated by commas. */
  services: string;
}

export interface CredentialRow {
  user_id: string;
  /** PHC string. */
  password_hash: string;
  changed_at_ms: number;
}

export interface SessionRow {
  id: string;
  user_id: string;
  created_at_ms: number;
  last_used_at_ms: number;
  expires_at_ms: number;
  address: string;
  user_agent: string;
}

/** Where an account was logged in from. */
export interface LoginSourceRow {
  user_id: string;
  /** What the address is counted by: an IPv4 address, a /64 of IPv6. */
  source: string;
  last_login_at_ms: number;
}

export interface VehicleRow {
  id: string;
  version: number;
  name: string;
  plate: string | null;
  terminal_id: string | null;
  /** JSON; null: anyone who knows the id, as before terminals were bound. */
  terminal_access: string | null;
  dealer_id: string | null;
  speed_limit_kmh: number | null;
  speed_tolerance_kmh: number;
  speeding_min_seconds: number;
  offline_after_minutes: number;
  moving_speed_kmh: number;
  moving_distance_m: number;
  trip_stop_minutes: number;
  trip_gap_minutes: number;
}

/** The dealer whose vehicle had a terminal last, where the terminal sent data for it. */
export interface TerminalHolderRow {
  terminal_id: string;
  dealer_id: string | null;
  released_at_ms: number;
}

export interface GroupRow {
  id: string;
  version: number;
  name: string;
  dealer_id: string | null;
  /** The dealer's id, or `operator`: names are unique within it, and NULL never equals NULL. */
  name_scope: string;
}

export interface GeofenceRow {
  id: string;
  version: number;
  name: string;
  owner_id: string;
  /** `Shape` as JSON. */
  shape: string;
  /** 1: all that the owner may see; 0: the groups of `geofence_groups`, of which there may be none. */
  watches_all: Flag;
  speed_limit_kmh: number | null;
  min_dwell_seconds: number;
  /** Points of its shape. */
  vertices: number;
}

/** A limit that was set for an account or a dealer. */
export interface QuotaLimitRow {
  user_id: string;
  scope: string;
  kind: string;
  max_value: number;
}

/** One of the groups that a vehicle, a user or a geofence (`member_id`) names. */
export interface MemberRow {
  group_id: string;
  member_id: string;
}

export interface RecentChangeRow {
  seq: number;
  /** `DefinitionChange` as JSON. */
  change: string;
}

export interface DeletedGeofenceRow {
  id: string;
  name: string;
  owner_id: string;
  /** The owner's dealer when it was deleted. */
  dealer_id: string | null;
  deleted_at_ms: number;
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
  at_ms: number;
  action: string;
  user_id: string | null;
  user_login: string | null;
  user_role: string | null;
  user_dealer_id: string | null;
  session_id: string | null;
  address: string | null;
  subject_kind: string;
  subject_id: string | null;
  subject_name: string;
  /** Fields as JSON. */
  before: string | null;
  after: string | null;
}

/** Which dealers a line of the audit trail concerns. */
export interface AuditDealerRow {
  dealer_id: string;
  entry_id: string;
}

export interface NotificationRuleRow {
  id: string;
  version: number;
  owner_id: string;
  name: string;
  /** Null: active. */
  inactive_reason: string | null;
  /** 1: the vehicles of `notification_rule_references`, of which there may be none; 0: all. */
  names_vehicles: Flag;
  names_groups: Flag;
  names_geofences: Flag;
  /** The rest of the rule as JSON: nothing is asked by it. */
  terms: string;
  webhook_secret: string | null;
}

/** Something that a rule names. */
export interface RuleReferenceRow {
  rule_id: string;
  kind: 'vehicle' | 'group' | 'geofence';
  thing_id: string;
}

/** The fix of a rule's last notification about a vehicle: kept where the rule has an interval. */
export interface RuleFiringRow {
  rule_id: string;
  vehicle_id: string;
  fix_time_ms: number;
}

/** How many notifications a user was given, and up to which they are forgotten. */
export interface NotificationCounterRow {
  user_id: string;
  last_number: number;
  forgotten_number: number;
}

export interface NotificationRow {
  id: string;
  user_id: string;
  /** Grows by one with each notification of the user. */
  number: number;
  rule_id: string;
  rule_version: number;
  rule_name: string;
  event_id: string;
  phase: string;
  vehicle_id: string;
  vehicle_name: string;
  geofence_name: string | null;
  created_at_ms: number;
  read_at_ms: number | null;
  /** `FleetEvent` as JSON. */
  event: string;
}

export interface DeliveryRow {
  id: string;
  notification_id: string;
  user_id: string;
  rule_id: string;
  channel: string;
  target: string;
  /** Who has to take it: of one endpoint only so many are sent at a time. */
  endpoint: string;
  state: string;
  attempts: number;
  created_at_ms: number;
  /** From when it is due; while it is leased, when the lease ends. */
  next_attempt_at_ms: number;
  /** Until when it is tried. */
  give_up_at_ms: number;
  finished_at_ms: number | null;
  /** Who is sending it. */
  lease: string | null;
  last_error: string | null;
  response_status: number | null;
}

/** How an endpoint has answered the webhooks of an account lately. */
export interface DeliveryCircuitRow {
  user_id: string;
  endpoint: string;
  /** 0: it works. Above: one delivery at a time tries it. */
  strikes: number;
  /** Attempts without an answer, one after the other. */
  failures: number;
  /** Nothing is sent to it before: its break, or the lease of the delivery that tries it. */
  retry_at_ms: number;
  changed_at_ms: number;
}

/** An e-mail address as one tenant may use it. */
export interface MailAddressRow {
  id: string;
  tenant_id: string;
  address: string;
  /** As it is compared: in lower case. */
  address_key: string;
  state: string;
  secret: string;
  generation: number;
  /** When its holder was last asked to confirm it. */
  asked_at_ms: number | null;
  /** When a mail that asks for the confirmation is due, or the lease of its attempt ends; null: none is to be sent. */
  next_attempt_at_ms: number | null;
  attempts: number;
  lease: string | null;
  changed_at_ms: number;
}

/** Mails of an hour or a day. */
export interface MailCountRow {
  counter: string;
  window_start_ms: number;
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
  served_at_ms: number;
}

/** Work that takes long. */
export interface JobRow {
  id: string;
  kind: string;
  /** Null: the service's own. No foreign key: what somebody began is finished when they are gone. */
  user_id: string | null;
  subject_id: string | null;
  /** The schedule of reports that made it, and for which of its periods: each has one at most. */
  schedule_id: string | null;
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
  created_at_ms: number;
  started_at_ms: number | null;
  finished_at_ms: number | null;
  /** From when it may be taken: among those that may, the longest due comes first. */
  due_at_ms: number;
  /** Who has it in hand, … */
  lease: string | null;
  /** … and until when that is believed without a word. */
  lease_until_ms: number;
  /** How often it was taken in hand since it last got further. */
  attempts: number;
  cancel_requested: Flag;
}

/** The file that a job made of a report. */
export interface ReportFileRow {
  /** In the store. */
  id: string;
  job_id: string;
  /** No foreign key: a file may outlive its user for a moment. */
  user_id: string;
  name: string;
  media_type: string;
  bytes: number;
  sha256: string;
  stored_at_ms: number;
  /** JSON: ids of those that it may tell of. */
  vehicles: string;
  geofences: string;
}

/** Reports that are made again and again. */
export interface ReportScheduleRow {
  id: string;
  version: number;
  owner_id: string;
  name: string;
  /** Null while it is active. */
  inactive_reason: string | null;
  /** JSON: what nothing is asked by. */
  terms: string;
  /** The last that a job was made for. */
  last_period: string | null;
  /** When the next is due; null while it is not active. */
  next_at_ms: number | null;
  next_period: string | null;
}

/** A report on its way to a mailbox. */
export interface ReportDeliveryRow {
  id: string;
  job_id: string;
  schedule_id: string;
  user_id: string;
  target: string;
  state: string;
  attempts: number;
  created_at_ms: number;
  next_attempt_at_ms: number;
  give_up_at_ms: number;
  finished_at_ms: number | null;
  lease: string | null;
  last_error: string | null;
}

/** Where a consumer of the log goes on, saved with what it made. */
export interface ConsumerOffsetRow {
  consumer: string;
  log_partition: number;
  next_offset: number;
  /** Of the log that the offset is of; null: not known. */
  log_identity: string | null;
}

/** A request that made something, and how it was answered. */
export interface IdempotencyRow {
  user_id: string;
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
  created_at_ms: number;
}

export interface VideoProfileRow {
  id: string;
  version: number;
  vehicle_id: string;
  protocol: string;
  address: string;
  /** `protocol` and the address as it is compared; null where several may have it. */
  address_key: string | null;
  /** The rest of the profile as JSON: nothing is asked by it. */
  terms: string;
}

/** Whether a video terminal is connected, as it was last heard. */
export interface VideoPresenceRow {
  profile_id: string;
  online: Flag;
  since_ms: number;
}

export interface VideoTaskRow {
  id: string;
  profile_id: string;
  vehicle_id: string;
  created_by: string | null;
  channel: number;
  start_ms: number;
  end_ms: number;
  quality: string;
  audio: Flag;
  state: string;
  reason: string | null;
  detail: string | null;
  attempts: number;
  progress_percent: number;
  progress_bytes: number;
  created_at_ms: number;
  changed_at_ms: number;
  expires_at_ms: number;
  /** From when it may be tried; `NOT_BEFORE_WOKEN` where only the terminal is waited for. */
  next_attempt_at_ms: number;
  finished_at_ms: number | null;
  /** Who works on it. */
  lease: string | null;
  lease_until_ms: number;
  /** What was fetched and is not stored yet: `FetchedFile` as JSON. */
  fetched: string | null;
  /** `VideoFile` as JSON. */
  file: string | null;
  /** Bytes that the file takes up in the store; 0 where there is none. */
  file_bytes: number;
  file_deleted_at_ms: number | null;
}

export interface VideoTransitionRow {
  task_id: string;
  nth: number;
  state: string;
  at_ms: number;
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
  login_sources: LoginSourceRow;
  vehicles: VehicleRow;
  vehicle_groups: GroupRow;
  geofences: GeofenceRow;
  vehicle_group_members: MemberRow;
  user_group_access: MemberRow;
  geofence_groups: MemberRow;
  quota_limits: QuotaLimitRow;
  outbox: OutboxRow;
  recent_changes: RecentChangeRow;
  deleted_geofences: DeletedGeofenceRow;
  audit: AuditRow;
  audit_dealers: AuditDealerRow;
  idempotency: IdempotencyRow;
  notification_rules: NotificationRuleRow;
  notification_rule_references: RuleReferenceRow;
  rule_firings: RuleFiringRow;
  notification_counters: NotificationCounterRow;
  notifications: NotificationRow;
  deliveries: DeliveryRow;
  delivery_circuits: DeliveryCircuitRow;
  queue_turns: QueueTurnRow;
  mail_addresses: MailAddressRow;
  mail_counts: MailCountRow;
  consumer_offsets: ConsumerOffsetRow;
  jobs: JobRow;
  report_files: ReportFileRow;
  report_schedules: ReportScheduleRow;
  report_deliveries: ReportDeliveryRow;
  terminal_holders: TerminalHolderRow;
  video_profiles: VideoProfileRow;
  video_presence: VideoPresenceRow;
  video_tasks: VideoTaskRow;
  video_transitions: VideoTransitionRow;
  registry_facts: RegistryFactRow;
}
