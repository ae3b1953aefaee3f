import { type DriverId, isoTime, type User, type UserId } from '@outrider/domain';
import type { Tables } from '../store/schema.ts';
import type { Reader, Store } from '../store/store.ts';
import { USERS } from './user-rows.ts';

/** Rows of one kind about a person, as exported: times as text, JSON columns parsed. */
export interface PersonalRows {
  section: string;
  rows: readonly Readonly<Record<string, unknown>>[];
}

type OwnerColumn = 'userId' | 'ownerId' | 'createdBy';
type OwnedTable = {
  [T in keyof Tables]: Extract<keyof Tables[T], OwnerColumn> extends never ? never : T;
}[keyof Tables];

interface Section<T extends keyof Tables = keyof Tables> {
  table: T;
  /** Column with the id of the person. */
  by: keyof Tables[T] & string;
  /** Exported columns: no secrets, no hashes, nothing that only a worker needs. */
  fields: readonly (keyof Tables[T] & string)[];
  /** Column by which rows are read in pages. Without it: they are few, and are read at once. */
  order?: keyof Tables[T] & string;
  /** The account and operators alone may see it. */
  isPrivate?: true;
  /** Only rows of subjects of this kind. */
  subjectKind?: 'user' | 'driver';
  /** Columns that are not exported, besides {@link LEFT_OUT}: they describe the service or are exported elsewhere. */
  leftOut?: readonly (keyof Tables[T] & string)[];
}

/**
 * Columns that are never exported, from any table. A test requires every other column to be exported or named in
 * `leftOut`, so that new personal data is not forgotten.
 */
export const LEFT_OUT: ReadonlySet<string> = new Set([
  // The person whom the row belongs to.
  ...['userId', 'ownerId', 'createdBy', 'memberId', 'tenantId', 'driverId'],
  // Credentials, and values that would show that two are the same.
  ...[
    'passwordHash',
    'secretHash',
    'codeHash',
    'tokenHash',
    'secret',
    'webhookSecret',
    'webhookUrl',
    'secretHeaders',
    'publicKey',
  ],
  ...['credentialId', 'fingerprint', 'sha256'],
  // State of the processing of a row.
  ...['version', 'generation', 'lease', 'leaseUntilMs', 'leasedUntilMs', 'attempts', 'nextAttemptAtMs', 'giveUpAtMs'],
  ...['attemptLog', 'resume', 'cancelRequested', 'dueAtMs', 'strikes', 'failures', 'retryAtMs'],
  // Derived from other columns, for lookups and as a checksum.
  ...['loginKey', 'addressKey', 'rowSum'],
]);

/** Every table that refers to an account must be listed. Null: nobody reads what the table holds. */
const OF_ACCOUNT: { readonly [T in OwnedTable]: Omit<Section<T>, 'table'> | null } = {
  credentials: { by: 'userId', fields: ['changedAtMs'], isPrivate: true },
  sessions: {
    ...{ by: 'userId', isPrivate: true },
    fields: ['id', 'createdAtMs', 'lastUsedAtMs', 'expiresAtMs', 'address', 'userAgent'],
    leftOut: ['usedGeneration', 'usedAtMs'],
  },
  loginSources: { by: 'userId', fields: ['source', 'lastLoginAtMs'], isPrivate: true },
  secondFactors: { by: 'userId', fields: ['confirmedAtMs'], leftOut: ['lastStep'], isPrivate: true },
  recoveryCodes: null,
  passkeys: {
    ...{ by: 'userId', isPrivate: true },
    fields: ['id', 'name', 'createdAtMs', 'lastUsedAtMs'],
    leftOut: ['counter'],
  },
  externalIdentities: { by: 'userId', fields: ['issuer', 'subject', 'linkedAtMs'], isPrivate: true },
  accountExpiries: { by: 'userId', fields: ['expiresAtMs'] },
  accountEmails: { by: 'userId', fields: ['address'] },
  accountNotices: {
    ...{ by: 'userId', order: 'id', isPrivate: true },
    fields: ['id', 'kind', 'detail', 'address', 'createdAtMs'],
  },
  apiKeys: {
    ...{ by: 'userId', isPrivate: true },
    fields: ['id', 'name', 'scopes', 'groupIds', 'createdAtMs', 'expiresAtMs', 'lastUsedAtMs', 'lastUsedAddress'],
  },
  quotaLimits: { by: 'userId', fields: ['scope', 'kind', 'maxValue'] },
  preferences: { by: 'userId', fields: ['value'], isPrivate: true },
  reportTemplates: { by: 'userId', fields: ['value'], isPrivate: true },
  geofences: {
    ...{ by: 'ownerId', order: 'id' },
    fields: [
      ...(['id', 'name', 'shape', 'speedLimitKmh', 'minDwellSeconds', 'color', 'description', 'category'] as const),
      ...(['watchesAll', 'sharedWithOrganisation', 'externalId', 'customAttributes'] as const),
    ],
    leftOut: ['vertices'],
  },
  deletedGeofences: {
    ...{ by: 'ownerId', order: 'id' },
    fields: ['id', 'name', 'deletedAtMs'],
    leftOut: ['dealerId', 'ownerRole', 'sharedWithOrganisation', 'sharedGroupIds'],
  },
  notificationRules: {
    ...{ by: 'ownerId', order: 'id', isPrivate: true },
    fields: ['id', 'name', 'inactiveReason', 'terms'],
    leftOut: [
      ...(['namesVehicles', 'namesGroups', 'namesGeofences', 'namesInside', 'namesOutside'] as const),
      ...(['namesDrivers', 'namesDriverGroups'] as const),
    ],
  },
  messageChannels: {
    ...{ by: 'userId', order: 'id', isPrivate: true },
    fields: ['id', 'kind', 'name', 'state', 'settings', 'endpoint', 'createdAtMs'],
    leftOut: ['codeExpiresAtMs', 'codeTries', 'hour', 'hourCount', 'day', 'dayCount'],
  },
  forwardingDestinations: {
    ...{ by: 'ownerId', order: 'id', isPrivate: true },
    fields: [
      ...(['id', 'name', 'kind', 'settings', 'secretHeaderNames', 'endpoint', 'filter', 'state'] as const),
      ...(['createdAtMs', 'beginAtMs', 'lastSuccessAtMs', 'lastErrorAtMs', 'positionsSent', 'eventsSent'] as const),
    ],
    leftOut: [
      ...(['positionsCursor', 'eventsCursor', 'reachedAtMs', 'savedAtMs', 'lastError', 'refused'] as const),
      ...(['lastRefusal', 'gapFromMs', 'gapToMs', 'gapNoticedAtMs'] as const),
    ],
  },
  shareLinks: { by: 'ownerId', order: 'id', fields: ['id', 'name', 'fromMs', 'toMs', 'createdAtMs', 'expiresAtMs'] },
  notifications: {
    ...{ by: 'userId', order: 'number', isPrivate: true },
    fields: [
      ...(['id', 'number', 'ruleName', 'phase', 'vehicleId', 'vehicleName', 'geofenceName', 'driverName'] as const),
      ...(['lastedMs', 'createdAtMs', 'readAtMs', 'event', 'severity'] as const),
    ],
    leftOut: ['ruleId', 'ruleVersion', 'eventId', 'incidentId'],
  },
  incidents: {
    ...{ by: 'ownerId', order: 'id', isPrivate: true },
    fields: [
      ...(['id', 'shared', 'severity', 'state', 'createdAtMs', 'acknowledgedAtMs', 'closedAtMs'] as const),
      ...(['endedAtMs', 'escalatedAtMs'] as const),
    ],
    leftOut: ['ruleId', 'eventId', 'assigneeId', 'changedAtMs', 'escalateAtMs'],
  },
  incidentEntries: {
    ...{ by: 'createdBy', order: 'id' },
    fields: ['id', 'incidentId', 'atMs', 'kind', 'text'],
    leftOut: ['assigneeId'],
  },
  notificationCounters: null,
  deliveries: {
    ...{ by: 'userId', order: 'id', isPrivate: true },
    fields: ['id', 'notificationId', 'channel', 'target', 'state', 'attempts', 'createdAtMs', 'finishedAtMs'],
    leftOut: ['ruleId', 'endpoint', 'lastError', 'responseStatus', 'isEscalation'],
  },
  deliveryCircuits: { by: 'userId', fields: ['endpoint', 'changedAtMs'], isPrivate: true },
  channelTests: {
    ...{ by: 'userId', order: 'id', isPrivate: true },
    fields: ['id', 'ruleId', 'channel', 'target', 'state', 'createdAtMs', 'finishedAtMs'],
    leftOut: ['lastError', 'responseStatus'],
  },
  reportSchedules: {
    ...{ by: 'ownerId', order: 'id', isPrivate: true },
    fields: ['id', 'name', 'inactiveReason', 'terms', 'nextAtMs'],
    leftOut: ['lastPeriod', 'nextPeriod'],
  },
  reportDeliveries: {
    ...{ by: 'userId', order: 'id', isPrivate: true },
    fields: ['id', 'scheduleId', 'target', 'state', 'createdAtMs', 'finishedAtMs'],
    leftOut: ['jobId', 'lastError'],
  },
  reportFiles: {
    ...{ by: 'userId', order: 'id', isPrivate: true },
    fields: ['jobId', 'name', 'mediaType', 'bytes', 'storedAtMs'],
    leftOut: ['id', 'vehicles', 'geofences'],
  },
  jobs: {
    ...{ by: 'userId', order: 'id', isPrivate: true },
    fields: ['id', 'kind', 'subjectId', 'parameters', 'state', 'result', 'error', 'createdAtMs', 'finishedAtMs'],
    leftOut: ['scheduleId', 'period', 'percent', 'positions', 'startedAtMs'],
  },
  videoTasks: {
    ...{ by: 'createdBy', order: 'id' },
    fields: [
      ...(['id', 'vehicleId', 'channel', 'startMs', 'endMs', 'quality', 'audio', 'state', 'reason'] as const),
      ...(['createdAtMs', 'finishedAtMs', 'fileBytes', 'fileDeletedAtMs'] as const),
    ],
    leftOut: [
      ...(['profileId', 'detail', 'progressPercent', 'progressBytes', 'changedAtMs', 'expiresAtMs'] as const),
      ...(['fetched', 'file'] as const),
    ],
  },
  vehicleCommands: {
    ...{ by: 'createdBy', order: 'id' },
    fields: ['id', 'vehicleId', 'type', 'parameters', 'state', 'reason', 'createdAtMs', 'sentAtMs', 'finishedAtMs'],
    leftOut: ['answer', 'maxSpeedKmh', 'ruleId', 'eventId', 'changedAtMs', 'expiresAtMs'],
  },
  counterCorrections: {
    ...{ by: 'createdBy', order: 'id' },
    fields: ['id', 'vehicleId', 'counter', 'atMs', 'value', 'note', 'createdAtMs'],
  },
  serviceRecords: {
    ...{ by: 'createdBy', order: 'id' },
    fields: ['id', 'vehicleId', 'title', 'atMs', 'costMinor', 'currency', 'note', 'createdAtMs'],
    leftOut: ['planId', 'odometerM', 'engineMs'],
  },
  serviceFiles: {
    ...{ by: 'createdBy', order: 'id' },
    fields: ['id', 'recordId', 'vehicleId', 'name', 'mediaType', 'bytes', 'createdAtMs'],
  },
  idempotency: null,
  // Names and values of other things are not the account's data: exported is what it changed, but not its values.
  audit: {
    ...{ by: 'userId', order: 'id', isPrivate: true },
    fields: ['id', 'atMs', 'action', 'sessionId', 'apiKeyId', 'address', 'subjectKind', 'subjectId'],
    leftOut: ['userLogin', 'userRole', 'userDealerId', 'subjectName', 'before', 'after'],
  },
};

/** The account as the API shows it: every field of {@link User}. */
async function accountProfile(db: Reader, id: string): Promise<Record<string, unknown>[]> {
  // Groups are a separate section.
  const shownOf = ({ kind: _, version: __, groupIds: ___, ...fields }: User) => fields;
  return (await USERS.load(db, [id])).map(shownOf);
}
const PROFILE = [
  ...(['id', 'login', 'name', 'role', 'dealerId', 'blocked', 'apiAccess', 'services', 'rights'] as const),
  ...(['externalId', 'customAttributes'] as const),
];
/** Of the users who made the changes, only the role is exported. */
const AUDITED = {
  fields: ['id', 'atMs', 'action', 'userRole', 'before', 'after'] as const,
  leftOut: [
    ...(['userLogin', 'userDealerId', 'sessionId', 'apiKeyId', 'address'] as const),
    ...(['subjectKind', 'subjectId', 'subjectName'] as const),
  ],
};

/** A section whose columns were checked against its table. */
interface NamedSection {
  name: string;
  table: keyof Tables;
  by: string;
  fields: readonly string[];
  order?: string;
  isPrivate?: true;
  subjectKind?: 'user' | 'driver';
  leftOut?: readonly string[];
  /** Replaces reading the columns of the table. */
  read?: (db: Reader, id: string) => Promise<Record<string, unknown>[]>;
}

function section<T extends keyof Tables>(name: string, table: T, about: Omit<Section<T>, 'table'>): NamedSection {
  return { name, table, ...about };
}

const ACCOUNT_SECTIONS: readonly NamedSection[] = [
  {
    ...section('profile', 'users', { by: 'id', fields: PROFILE, leftOut: ['dealerBlocked', 'expired'] }),
    read: accountProfile,
  },
  section('groups', 'userGroupAccess', { by: 'memberId', fields: ['groupId'] }),
  section('accountLinks', 'accountLinks', {
    ...{ by: 'id', isPrivate: true },
    fields: ['purpose', 'address', 'language', 'expiresAtMs'],
    leftOut: ['id'],
  }),
  section('fleetRetention', 'fleetRetentions', { by: 'owner', fields: ['retentionDays'], leftOut: ['owner'] }),
  section('mailAddresses', 'mailAddresses', {
    ...{ by: 'tenantId', order: 'id', isPrivate: true },
    fields: ['address', 'language', 'state', 'askedAtMs', 'changedAtMs'],
    leftOut: ['id'],
  }),
  ...(Object.entries(OF_ACCOUNT) as [OwnedTable, Omit<NamedSection, 'name' | 'table'> | null][]).flatMap(
    ([table, about]) => (about === null ? [] : [{ name: table === 'audit' ? 'auditBy' : table, table, ...about }]),
  ),
  section('auditAbout', 'audit', {
    ...{ by: 'subjectId', order: 'id', isPrivate: true, subjectKind: 'user' },
    ...AUDITED,
  }),
];

const DRIVER_SECTIONS: readonly NamedSection[] = [
  section('profile', 'drivers', {
    by: 'id',
    fields: [
      ...(['id', 'name', 'dealerId', 'phone', 'licenceNumber', 'licenceExpiresOn'] as const),
      ...(['externalId', 'customAttributes'] as const),
    ],
  }),
  section('codes', 'driverCodes', { by: 'driverId', fields: ['code', 'sinceMs', 'untilMs'], leftOut: ['scope'] }),
  section('groups', 'driverGroupMembers', { by: 'memberId', fields: ['groupId'] }),
  section('assignments', 'driverAssignments', {
    ...{ by: 'driverId', order: 'id' },
    fields: ['id', 'vehicleId', 'fromMs', 'toMs'],
  }),
  section('licenceNotices', 'licenceNotices', {
    by: 'driverId',
    fields: ['ruleId', 'licenceExpiresOn', 'stage'],
  }),
  section('auditAbout', 'audit', {
    ...{ by: 'subjectId', order: 'id', subjectKind: 'driver' },
    ...AUDITED,
  }),
];

/** Tables and columns that exports are made from. */
export const PERSONAL_SECTIONS: readonly Readonly<Pick<NamedSection, 'name' | 'table' | 'fields' | 'leftOut'>>[] = [
  ...ACCOUNT_SECTIONS,
  ...DRIVER_SECTIONS,
];

const PAGE = 500;
/** Columns that hold 0 or 1. */
const FLAGS = new Set(['audio', 'watchesAll', 'sharedWithOrganisation', 'shared']);
const TIME = /(?:At|^at|^start|^end|from|From|to|To|since|until)Ms$/;

/** All data that the registry holds about a person, for export to that person. */
export class PersonalData {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Data about an account, section by section, in pages; a section without rows yields one empty page.
   *
   * @param withPrivate includes what only the account and operators may see
   */
  ofAccount(id: UserId, withPrivate: boolean): AsyncGenerator<PersonalRows> {
    const sections = ACCOUNT_SECTIONS.filter(({ isPrivate }) => withPrivate || isPrivate !== true);
    return this.#sections(sections, id);
  }

  /** Sections that only the account itself and operators may see. */
  get privateSections(): readonly string[] {
    return ACCOUNT_SECTIONS.flatMap(({ name, isPrivate }) => (isPrivate ? [name] : []));
  }

  /** The same for a driver; trips are in the archive. */
  ofDriver(id: DriverId): AsyncGenerator<PersonalRows> {
    return this.#sections(DRIVER_SECTIONS, id);
  }

  async *#sections(sections: readonly NamedSection[], id: string): AsyncGenerator<PersonalRows> {
    for (const section of sections)
      for await (const rows of this.#rows(section, id)) yield { section: section.name, rows };
  }

  async *#rows(section: NamedSection, id: string): AsyncGenerator<PersonalRows['rows']> {
    const { table, by, fields, order, subjectKind, read } = section;
    if (read !== undefined) return yield await read(this.#store.db, id);
    // The query types cannot express a table that is known only at run time.
    const columns = order === undefined || fields.includes(order) ? fields : [...fields, order];
    let query = this.#store.db.selectFrom(table as 'audit').select(columns as never);
    query = query.where(by as never, '=', id as never);
    if (subjectKind !== undefined) query = query.where('subjectKind', '=', subjectKind);
    for (let after: unknown = null; ; ) {
      let page = query;
      if (order !== undefined) page = page.orderBy(order as never).limit(PAGE);
      if (after !== null) page = page.where(order as never, '>', after as never);
      const rows: Record<string, unknown>[] = await page.execute();
      yield rows.map((row) => shown(row, fields));
      if (order === undefined || rows.length < PAGE) return;
      after = rows.at(-1)?.[order];
    }
  }
}

function shown(row: Readonly<Record<string, unknown>>, fields: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    fields.map((name) => {
      const value = row[name];
      if (TIME.test(name)) return [name.slice(0, -'Ms'.length), value === null ? null : isoTime(Number(value))];
      if (FLAGS.has(name)) return [name, value === 1];
      return [name, typeof value === 'string' && /^[[{]/.test(value) ? parsed(value) : value];
    }),
  );
}

/** Parses JSON; a name may begin as JSON does. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
