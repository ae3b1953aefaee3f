import type { DefinitionKind, InactiveReason, QuotaKind, QuotaScope } from '@outrider/domain';

/** The database does not answer: the statement may or may not have been executed. */
export class RegistryAwayError extends Error {
  override name = 'RegistryAwayError';
}

/** The disk of the database is full: nothing was written. Reads still work. */
export class RegistryFullError extends RegistryAwayError {
  override name = 'RegistryFullError';
}

/** A row differs from what was written: the disk, or something else, has changed it. */
export class DamagedRowError extends Error {
  override name = 'DamagedRowError';
  /** Name of the table in the database. */
  readonly table: string;
  /** The values of its primary key, separated by spaces. */
  readonly key: string;
  constructor(table: string, key: string) {
    super(`row ${key} of table ${table} of the registry is damaged`);
    this.table = table;
    this.key = key;
  }
}

/** Fields whose value must be unique. */
export type UniqueField = 'login' | 'name' | 'terminalId' | 'vehicleId' | 'address' | 'codes' | 'externalId';

/** Another definition already has this value. */
export class ConflictError extends Error {
  override name = 'ConflictError';
  readonly kind: DefinitionKind | 'report-schedule' | 'custom-counter';
  readonly field: UniqueField;
  constructor(kind: ConflictError['kind'], field: UniqueField, value: string) {
    super(`another ${kind} has the ${field} ${JSON.stringify(value)}`);
    this.kind = kind;
    this.field = field;
  }
}

/** A vehicle is assigned to somebody at that time already. */
export class OverlappingAssignmentError extends Error {
  override name = 'OverlappingAssignmentError';
  /** Id of the existing assignment. */
  readonly id: string;
  constructor(id: string) {
    super(`the vehicle is assigned to a driver at that time: ${id}`);
    this.id = id;
  }
}

/** Something with a version. */
interface Versioned {
  kind: string;
  version: number;
}

/** The definition was changed after the caller read it. */
export class StaleError extends Error {
  override name = 'StaleError';
  readonly current: Versioned;
  constructor(current: Versioned, expectedVersion: number) {
    super(`the ${current.kind} is at version ${current.version}, not ${expectedVersion}`);
    this.current = current;
  }
}

/** Another request with this key is being processed, or was processed. */
export class AlreadyClaimedError extends Error {
  override name = 'AlreadyClaimedError';
  constructor(key: string) {
    super(`the key ${JSON.stringify(key)} is taken`);
  }
}

/** Only an operator may set this value. */
export class OperatorOnlyError extends Error {
  override name = 'OperatorOnlyError';
  readonly field: UniqueField;
  constructor(field: UniqueField) {
    super(`this ${field} may be set by operators alone`);
    this.field = field;
  }
}

/** There is no such definition. */
export class NotFoundError extends Error {
  override name = 'NotFoundError';
  readonly kind:
    | DefinitionKind
    | 'session'
    | 'notification'
    | 'incident'
    | 'delivery'
    | 'job'
    | 'video-task'
    | 'report-schedule'
    | 'share-link'
    | 'api-key'
    | 'second-factor'
    | 'passkey'
    | 'external-identity'
    | 'message-channel'
    | 'forwarding-destination'
    | 'driver-assignment'
    | 'command'
    | 'counter-correction'
    | 'custom-counter'
    | 'maintenance-plan'
    | 'service-record';
  constructor(kind: NotFoundError['kind'], id: string) {
    super(`there is no ${kind} ${id}`);
    this.kind = kind;
  }
}

/** A field names something that does not exist, or that is of the wrong kind. */
export class UnknownReferenceError extends Error {
  override name = 'UnknownReferenceError';
  readonly field: string;
  readonly id: string;
  constructor(field: string, id: string) {
    super(`${field} names ${id}, which does not exist`);
    this.field = field;
    this.id = id;
  }
}

/** A notification rule can't be active: all that it names was deleted, or nothing was named. */
export class NamesNothingError extends Error {
  override name = 'NamesNothingError';
  readonly reason: InactiveReason;
  constructor(reason: InactiveReason) {
    super(`the rule names nothing (${reason}), and so it can't be active`);
    this.reason = reason;
  }
}

/** The user has the maximum of open jobs. */
export class TooManyJobsError extends Error {
  override name = 'TooManyJobsError';
  readonly most: number;
  constructor(most: number) {
    super(`${most} jobs are open, which is the most for one user`);
    this.most = most;
  }
}

/** The write would exceed a quota of an account, or of a dealer with its accounts: nothing was written. */
export class QuotaExceededError extends Error {
  override name = 'QuotaExceededError';
  readonly scope: QuotaScope;
  readonly kind: QuotaKind;
  readonly limit: number;
  /** Amount before the write. */
  readonly used: number;
  /** Additional amount that the write would use. */
  readonly requested: number;
  constructor(quota: Pick<QuotaExceededError, 'scope' | 'kind' | 'limit' | 'used' | 'requested'>) {
    const { scope, kind, limit, used, requested } = quota;
    super(`the quota ${kind} of the ${scope} is ${limit}: ${used} are used, and ${requested} more are needed`);
    this.scope = scope;
    this.kind = kind;
    this.limit = limit;
    this.used = used;
    this.requested = requested;
  }
}

/** The account has sent the maximum of test messages per minute. */
export class TooManyTestsError extends Error {
  override name = 'TooManyTestsError';
  readonly retryAfterMs: number;
  constructor(retryAfterMs: number) {
    super('too many messages to test channels');
    this.retryAfterMs = retryAfterMs;
  }
}

/** Too many open commands to terminals, or too many requested by an account in a minute. */
export class TooManyCommandsError extends Error {
  override name = 'TooManyCommandsError';
  readonly bound: 'vehicle' | 'account' | 'minute';
  readonly most: number;
  /** Time until the account may request the next one; 0 where only the end of another command helps. */
  readonly retryAfterMs: number;
  constructor(bound: TooManyCommandsError['bound'], most: number, retryAfterMs = 0) {
    super(`${most} commands are the most for one ${bound}`);
    this.bound = bound;
    this.most = most;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The item was changed after the caller read it. */
export class StaleVersionError extends Error {
  override name = 'StaleVersionError';
  readonly version: number;
  constructor(kind: string, id: string, version: number) {
    super(`${kind} ${id} is at version ${version}`);
    this.version = version;
  }
}

/** The account has the maximum of API keys. */
export class TooManyApiKeysError extends Error {
  override name = 'TooManyApiKeysError';
  readonly most: number;
  constructor(most: number) {
    super(`${most} API keys are the most for one account`);
    this.most = most;
  }
}

/** Why the registry refuses a passkey, or its signature. */
export type PasskeyRefusal = 'challenge-used' | 'known' | 'too-many' | 'copied';

/**
 * `challenge-used`: the challenge was answered before. `known`: some account has the passkey already. `too-many`: the
 * account has the maximum of passkeys. `copied`: its counter did not grow, so there may be two copies of it; or it was
 * removed at this moment.
 */
export class PasskeyRefusedError extends Error {
  override name = 'PasskeyRefusedError';
  readonly reason: PasskeyRefusal;
  constructor(reason: PasskeyRefusal) {
    super(`a passkey was refused: ${reason}`);
    this.reason = reason;
  }
}

/** An incident is closed: only comments are added to it. */
export class IncidentClosedError extends Error {
  override name = 'IncidentClosedError';
  constructor(id: string) {
    super(`incident ${id} is closed`);
  }
}

/** The maximum number of something exists already. */
export class TooManyError extends Error {
  override name = 'TooManyError';
}

/** Too many e-mail addresses of the tenant wait for their confirmation. */
export class TooManyAddressesError extends Error {
  override name = 'TooManyAddressesError';
  readonly most: number;
  constructor(most: number) {
    super(`${most} addresses of one tenant may wait for their confirmation`);
    this.most = most;
  }
}
