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
  blocked: Flag;
  api_access: Flag;
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

export interface VehicleRow {
  id: string;
  version: number;
  name: string;
  plate: string | null;
  terminal_id: string | null;
  dealer_id: string | null;
  speed_limit_kmh: number | null;
  speed_tolerance_kmh: number;
  speeding_min_seconds: number;
  offline_after_minutes: number;
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
}

/** One of the groups that a vehicle, a user or a geofence (`member_id`) names. */
export interface MemberRow {
  group_id: string;
  member_id: string;
}

export interface OutboxRow {
  seq: Generated<number>;
  kind: string;
  id: string;
  version: number;
  /** `DefinitionChange` as JSON. */
  change: string;
}

/** The tables of the registry, by name. */
export interface Tables {
  users: UserRow;
  credentials: CredentialRow;
  sessions: SessionRow;
  vehicles: VehicleRow;
  vehicle_groups: GroupRow;
  geofences: GeofenceRow;
  vehicle_group_members: MemberRow;
  user_group_access: MemberRow;
  geofence_groups: MemberRow;
  outbox: OutboxRow;
}
