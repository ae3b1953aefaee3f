import { StartError } from '@outrider/runtime';
import type {
  LinkedList,
  SourceLinks,
  SourceList,
  SourcePage,
  SourcePosition,
  TraccarSource,
} from './traccar-source.ts';

/** Positions per query. */
const PAGE = 10_000;
const CONNECT_MS = 20_000;
const TABLES: Readonly<Record<SourceList, string>> = {
  groups: 'tc_groups',
  devices: 'tc_devices',
  users: 'tc_users',
  geofences: 'tc_geofences',
  drivers: 'tc_drivers',
  notifications: 'tc_notifications',
  maintenance: 'tc_maintenances',
  'attributes/computed': 'tc_attributes',
};
/** Name of each list in link tables. */
const LINKED: Readonly<Record<LinkedList, string>> = {
  notifications: 'notification',
  maintenance: 'maintenance',
  'attributes/computed': 'attribute',
};
/**
 * Lower-case column names of all versions since 4.0, and the fields that they are read as. Password hashes are not
 * read.
 */
const COLUMNS: Readonly<Record<string, string>> = {
  uniqueid: 'uniqueId',
  groupid: 'groupId',
  calendarid: 'calendarId',
};
const FLAGS: ReadonlySet<string> = new Set(['administrator', 'disabled', 'always', 'valid']);
const USER_COLUMNS = 'id, name, email, login, administrator, disabled';

const H2 =
  'the file of an H2 database is read by H2 alone: start its server with the library that Traccar has (docs/guide.md, ' +
  '"Traccar with H2") and give --database postgres://sa@localhost:5435/database, or import over the REST API (--url)';

type Row = Record<string, unknown>;

/** Differences between the databases. Parameters are `?` in order. */
interface Sql {
  query(text: string, parameters: readonly unknown[]): Promise<Row[]>;
  /** Selects the time of a position as sortable text, and as milliseconds of {@link clock}. */
  timeColumns: string;
  /** Converts a parameter in milliseconds of {@link clock} to a value of the time column. */
  timeOf: string;
  /** Converts between Unix milliseconds and the database's milliseconds. */
  clock: Clock;
  close(): Promise<void>;
}

interface Clock {
  shownAt(unixMs: number): number;
  unixMsOf(shownMs: number): number;
}

const UNIX_CLOCK: Clock = { shownAt: (ms) => ms, unixMsOf: (ms) => ms };

export interface DatabaseAccess {
  /** URL, also in the form of Traccar's configuration: `jdbc:postgresql://…`, `jdbc:mysql://…`. */
  database: string;
  user: string | undefined;
  password: string | undefined;
  /** Time zone of times in PostgreSQL and H2, which are stored without one: that of Traccar's process. */
  timeZone: string;
}

/**
 * Opens the database of a Traccar (4.0 or newer) for reading.
 *
 * @throws {StartError} when the kind of database is not supported, or the connection fails
 */
export async function openTraccarDatabase(access: DatabaseAccess): Promise<TraccarSource> {
  const { database, timeZone } = access;
  const text = database.replace(/^jdbc:/, '');
  if (/^h2:|\.mv\.db$|\.h2\.db$/.test(text)) throw new StartError(H2);
  const scheme = /^([a-z]+):\/\//.exec(text)?.[1];
  if (scheme === undefined || !URL.canParse(text))
    throw new StartError('--database must be a URL, such as postgres://user@host/traccar');
  if (!isZone(timeZone)) throw new StartError(`--time-zone must be a zone such as Europe/Berlin, not ${timeZone}`);
  const url = new URL(text);
  // Parameters of a JDBC URL have no meaning for other drivers.
  if (database.startsWith('jdbc:')) url.search = '';
  if (access.user !== undefined) url.username = access.user;
  if (access.password !== undefined) url.password = access.password;
  const open = { postgres: openPostgres, postgresql: openPostgres, mysql: openMysql, mariadb: openMysql }[scheme];
  if (open === undefined)
    throw new StartError(`a database of ${scheme} can't be read: import over the REST API of Traccar (--url)`);
  const sql = await open(url, timeZone).catch((error: Error) => {
    throw new StartError(`Traccar's database was not reached: ${error.message || String(error)}`);
  });
  return new TraccarDatabase(`${url.host}${url.pathname}`, sql);
}

function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== null;
  } catch {
    return false;
  }
}

class TraccarDatabase implements TraccarSource {
  readonly name: string;
  readonly #sql: Sql;

  constructor(name: string, sql: Sql) {
    this.name = name;
    this.#sql = sql;
  }

  async list<T>(name: SourceList): Promise<T[]> {
    const columns = name === 'users' ? USER_COLUMNS : '*';
    return (await this.#query(`select ${columns} from ${TABLES[name]} order by id`, [])).map(readRow) as T[];
  }

  async grants(userId: number): Promise<SourceLinks> {
    const ids = async (of: 'group' | 'device') =>
      (await this.#query(`select ${of}id as id from tc_user_${of} where userid = ?`, [userId])).map(({ id }) =>
        Number(id),
      );
    return { groupIds: await ids('group'), deviceIds: await ids('device') };
  }

  async links(name: LinkedList): Promise<Map<number, SourceLinks>> {
    const links = new Map<number, SourceLinks>();
    for (const [kind, of] of [
      ['deviceIds', 'device'],
      ['groupIds', 'group'],
    ] as const)
      for (const row of await this.#query(
        `select ${LINKED[name]}id as id, ${of}id as target from tc_${of}_${LINKED[name]} order by 1, 2`,
        [],
      )) {
        const known = links.get(Number(row.id)) ?? { deviceIds: [], groupIds: [] };
        known[kind].push(Number(row.target));
        links.set(Number(row.id), known);
      }
    return links;
  }

  /** Pages by the time of the last position read, because Traccar has an index by device and fix. */
  async *positions(deviceId: number, fromMs: number): AsyncGenerator<SourcePage> {
    const { timeColumns, timeOf, clock } = this.#sql;
    const columns = `id, ${timeColumns}, valid, latitude, longitude, altitude, speed, course, attributes`;
    const page = (after: string, parameters: unknown[]) =>
      this.#query(
        `select ${columns} from tc_positions where deviceid = ? and ${after} order by fixtime, id limit ${PAGE}`,
        [deviceId, ...parameters],
      );
    let rows = await page(`fixtime >= ${timeOf}`, [clock.shownAt(fromMs)]);
    for (;;) {
      const last = rows.at(-1);
      if (last === undefined) return;
      const positions = rows.map((row) => {
        const { fixms, fixtext: _text, ...rest } = row;
        const fixTime = new Date(clock.unixMsOf(Number(fixms))).toISOString();
        return { ...readRow(rest), fixTime } as unknown as SourcePosition;
      });
      yield { positions, reachedMs: Math.trunc(clock.unixMsOf(Number(last.fixms))) };
      if (rows.length < PAGE) return;
      const place = [last.fixtext, last.fixtext, last.id];
      rows = await page('fixtime >= ? and (fixtime > ? or id > ?)', place);
    }
  }

  close(): Promise<void> {
    return this.#sql.close();
  }

  async #query(text: string, parameters: readonly unknown[]): Promise<Row[]> {
    try {
      return await this.#sql.query(text, parameters);
    } catch (error) {
      throw new StartError(`Traccar's database (4.0 or newer is read) refused it: ${(error as Error).message}`);
    }
  }
}

/** Converts a row to the form of the REST API. */
function readRow(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) => {
      if (column === 'attributes') return [column, attributesOf(value)];
      return [COLUMNS[column] ?? column, FLAGS.has(column) ? isTrue(value) : value];
    }),
  );
}

function attributesOf(value: unknown): Row {
  try {
    const read: unknown = typeof value === 'string' ? JSON.parse(value) : value;
    return typeof read === 'object' && read !== null ? (read as Row) : {};
  } catch {
    return {};
  }
}

/** MySQL has no boolean type: the value is a number or a bit. */
function isTrue(value: unknown): boolean {
  return value === true || value === 1 || (Buffer.isBuffer(value) && value[0] === 1);
}

async function openPostgres(url: URL, timeZone: string): Promise<Sql> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url.href, connectionTimeoutMillis: CONNECT_MS });
  // A lost connection makes the next query fail, which reports it.
  client.on('error', () => {});
  await client.connect();
  const base = {
    async query(text: string, parameters: readonly unknown[]) {
      let nth = 0;
      return (
        await client.query<Row>(
          text.replaceAll('?', () => `$${++nth}`),
          [...parameters],
        )
      ).rows;
    },
    close: () => client.end(),
  };
  const [server] = await base.query('select version() as version', []);
  if (String(server?.version).includes(' H2 ')) return h2Of(base, timeZone);
  await client.query('set default_transaction_read_only = on');
  const zone = `'${timeZone}'`;
  return {
    ...base,
    timeColumns: `fixtime::text as fixtext, (extract(epoch from fixtime at time zone ${zone}) * 1000)::float8 as fixms`,
    timeOf: `to_timestamp(?::float8 / 1000) at time zone ${zone}`,
    clock: UNIX_CLOCK,
  };
}

/**
 * H2. Its server speaks the protocol of PostgreSQL, but supports hardly any of its time functions and no read-only
 * sessions. Its times have no zone, and its zone functions differ between versions: times are read as shown.
 */
function h2Of(base: Pick<Sql, 'query' | 'close'>, timeZone: string): Sql {
  const epoch = "timestamp '1970-01-01 00:00:00'";
  return {
    ...base,
    timeColumns: `cast(fixtime as varchar) as fixtext, cast(datediff('MILLISECOND', ${epoch}, fixtime) as varchar) as fixms`,
    timeOf: `dateadd('MILLISECOND', cast(? as bigint), ${epoch})`,
    clock: {
      shownAt: (unixMs) =>
        unixMs + Temporal.Instant.fromEpochMilliseconds(unixMs).toZonedDateTimeISO(timeZone).offsetNanoseconds / 1e6,
      unixMsOf: (shownMs) =>
        Temporal.Instant.fromEpochMilliseconds(shownMs)
          .toZonedDateTimeISO('UTC')
          .toPlainDateTime()
          .toZonedDateTime(timeZone).epochMilliseconds,
    },
  };
}

async function openMysql(url: URL): Promise<Sql> {
  const { createConnection } = await import('mysql2/promise');
  const connection = await createConnection({
    uri: url.href.replace(/^mariadb:/, 'mysql:'),
    connectTimeout: CONNECT_MS,
    dateStrings: true,
  });
  connection.on('error', () => {});
  await connection.query("set session time_zone = '+00:00'");
  await connection.query('set session transaction read only');
  return {
    async query(text, parameters) {
      const [rows] = await connection.query(text, [...parameters]);
      return rows as Row[];
    },
    timeColumns: "date_format(fixtime, '%Y-%m-%d %H:%i:%s.%f') as fixtext, unix_timestamp(fixtime) * 1000 as fixms",
    timeOf: 'from_unixtime(? / 1000)',
    clock: UNIX_CLOCK,
    close: () => connection.end(),
  };
}
