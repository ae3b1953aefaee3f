import type { DefinitionKind, InactiveReason, QuotaKind, QuotaScope } from '@outrider/domain';

/** The database does not answer: what was asked may or may not have been done. */
export class RegistryAwayError extends Error {
  override name = 'RegistryAwayError';
}

/** The disk of the database is full: nothing was written. What only reads still works. */
export class RegistryFullError extends RegistryAwayError {
  override name = 'RegistryFullError';
}

/** A row is not as it was written: the disk, or something else, has changed it. */
export class DamagedRowError extends Error {
  override name = 'DamagedRowError';
  /** As the database calls it. */
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
  /** Of the assignment that is there. */
  readonly id: string;
  constructor(id: string) {
    super(`the vehicle is assigned to a driver at that time: ${id}`);
    this.id = id;
  }
}

/** Something of which it is known whether it changed. */
interface Versioned {
  kind: string;
  version: number;
}

/** It changed since the caller read it. */
export class StaleError extends Error {
  override name = 'StaleError';
  readonly current: Versioned;
  constructor(current: Versioned, expectedVersion: number) {
    super(`the ${current.kind} is at version ${current.version}, not ${expectedVersion}`);
    this.current = current;
  }
}

/** Somebody else makes, or has made, the request with this key. */
export class AlreadyClaimedError extends Error {
  override name = 'AlreadyClaimedError';
  constructor(key: string) {
    super(`the key ${JSON.stringify(key)} is taken`);
  }
}

/** The value may be given by an operator alone. */
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

/** The user has as many jobs open as one may have. */
export class TooManyJobsError extends Error {
  override name = 'TooManyJobsError';
  readonly most: number;
  constructor(most: number) {
    super(`${most} jobs are open, which is the most for one user`);
    this.most = most;
  }
}

/** The write would take an account, or a dealer with its accounts, beyond a quota: nothing was written. */
export class QuotaExceededError extends Error {
  override name = 'QuotaExceededError';
  readonly scope: QuotaScope;
  readonly kind: QuotaKind;
  readonly limit: number;
  /** Before the write. */
  readonly used: number;
  /** How much more the write would use. */
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

/** The account sent as many messages to test channels as it may in a minute. */
export class TooManyTestsError extends Error {
  override name = 'TooManyTestsError';
  readonly retryAfterMs: number;
  constructor(retryAfterMs: number) {
    super('too many messages to test channels');
    this.retryAfterMs = retryAfterMs;
  }
}

/** More commands to terminals than may be open, or than an account may ask for in a minute. */
export class TooManyCommandsError extends Error {
  override name = 'TooManyCommandsError';
  readonly bound: 'vehicle' | 'account' | 'minute';
  readonly most: number;
  /** When the account may ask for the next; 0 where only the end of another helps. */
  readonly retryAfterMs: number;
  constructor(bound: TooManyCommandsError['bound'], most: number, retryAfterMs = 0) {
    super(`${most} commands are the most for one ${bound}`);
    this.bound = bound;
    this.most = most;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Another version of it was changed. */
export class StaleVersionError extends Error {
  override name = 'StaleVersionError';
  readonly version: number;
  constructor(kind: string, id: string, version: number) {
    super(`${kind} ${id} is at version ${version}`);
    this.version = version;
  }
}

/** The account has as many API keys as one may have. */
export class TooManyApiKeysError extends Error {
  override name = 'TooManyApiKeysError';
  readonly most: number;
  constructor(most: number) {
    super(`${most} API keys are the most for one account`);
    this.most = most;
  }
}

/** Why the registry refuses a passkey, or what it signed. */
export type PasskeyRefusal = 'challenge-used' | 'known' | 'too-many' | 'copied';

/**
 * `challenge-used`: the challenge was answered before. `known`: some account has the passkey already. `copied`: its
 * counter did not grow, so there may be two of it; or it was removed at this moment.
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

/** There are as many of something as there may be. */
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
