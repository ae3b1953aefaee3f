import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MessagePort } from 'node:worker_threads';
import {
  type FleetEvent,
  type Owner,
  type PackedPacket,
  SYSTEM_CLOCK,
  type TelemetryPacket,
  type VehicleId,
} from '@outrider/domain';
import type { ChdbIdle } from './engines/chdb.ts';
import { type Engine, type FileRows, WarehouseDamagedError } from './engines/engine.ts';
import {
  countBefore,
  type ErasureProgress,
  type ErasureQuestion,
  erase,
  eraseBefore,
  type HistoryCut,
  type HistoryRows,
} from './erasure.ts';
import { eventBlock } from './events/block.ts';
import { type EventReplacement, NOT_REMOVED, replaceEvents } from './events/replacement.ts';
import {
  checkSome,
  inspect,
  noteLosses,
  readGaps,
  repeatErasures,
  type Scrub,
  setAsideDamage,
  updateGap,
} from './inventory/inspection.ts';
import type { ArchiveGap } from './inventory/ledger.ts';
import { migrate, SCHEMA_VERSIONS } from './migrations.ts';
import type { NativeBlock } from './native/block.ts';
import { positionBlock } from './positions/block.ts';
import { packedBlock } from './positions/packed-block.ts';
import type { Recorded } from './recorded.ts';
import {
  type ArchivedEvents,
  type ArchivedEventsQuestion,
  archivedEvents,
  archivedEventsOfMany,
} from './reports/archived-events.ts';
import { type Events, type EventsQuestion, events } from './reports/events.ts';
import { type ArchivedFix, type FixesBeforeQuestion, fixesBefore } from './reports/fixes-before.ts';
import { type LastFixesQuestion, startOfLastFixes, startsOfLastFixes } from './reports/last-fixes.ts';
import { hasLateArrivals, haveLateArrivals, type LateArrivalsQuestion } from './reports/late-arrivals.ts';
import { openEvents } from './reports/open-events.ts';
import {
  type OverlappingEvents,
  type OverlappingEventsQuestion,
  overlappingEvents,
} from './reports/overlapping-events.ts';
import { type Box, type Positions, type PositionsQuestion, positions, vehiclesWithin } from './reports/positions.ts';
import { firstEventMs, type RecentEventsQuestion, recentEvents } from './reports/recent-events.ts';
import { type Records, type RecordsQuestion, records } from './reports/records.ts';
import { type RejectedPositions, type RejectionsQuestion, rejections } from './reports/rejections.ts';
import { type Tallies, type TalliesQuestion, tallies } from './reports/tallies.ts';
import {
  type CountedPosition,
  type CountedTrackQuestion,
  countedTracks,
  type JudgedPosition,
  type JudgedTrackQuestion,
  judgedTracks,
  type Track,
  type TrackCursor,
  type TrackQuestion,
  track,
} from './reports/track.ts';
import { type TripPart, type TripPartsQuestion, tripParts } from './reports/trip-parts.ts';
import { keepFor } from './retention.ts';
import type { ArchiveTable } from './tables.ts';

/**
 * Location of the warehouse: a folder (chDB in a separate process), the same folder opened by another thread of this
 * process, or a ClickHouse server.
 */
export type WarehouseAddress =
  | { path: string }
  | { port: MessagePort }
  | { url: string; username?: string; password?: string; database?: string };

export interface WarehouseOptions {
  /** Whole days that positions and events are kept; 0: for ever. Default: the retention set last stays. */
  retentionDays?: number;
  /**
   * For a folder: ClickHouse is started when it is needed, and ended after an idle time. A folder of another release or
   * with other options starts it at once. Default: it is started at once, and ended by `close`.
   */
  whenNeeded?: ChdbIdle;
  /**
   * Awaited after each opening of ClickHouse, before anything else uses it. If it throws, the opening fails with the
   * error.
   */
  onOpened?(opened: OpenedArchive): Promise<void>;
}

export interface OpenedArchive {
  /** Identity of the archive, which changes when its folder or its database is created again. */
  identity: string;
  updateGap: Warehouse['updateGap'];
}

/** Encoded rows to be inserted, column by column: they take a fraction of the records' memory. */
export interface Rows {
  readonly table: 'positions' | 'events';
  readonly block: NativeBlock;
}

/** The queries that users make. */
export type ArchiveQueries = Pick<
  Warehouse,
  | 'track'
  | 'recentEvents'
  | 'firstEventMs'
  | 'fixesBefore'
  | 'rejections'
  | 'positions'
  | 'records'
  | 'vehiclesWithin'
  | 'overlappingEvents'
  | 'openEvents'
  | 'tallies'
  | 'tripParts'
  | 'file'
  | 'gaps'
>;

/** The archive of positions and events. */
export interface Warehouse {
  /** Returns the same archive with queries that wait in the turn of an owner. Otherwise they are the service's own. */
  as(owner: Owner): ArchiveQueries;
  /**
   * Archives the positions of packets. Resolves with the number of positions when they are durable. Records may be
   * repeated, in any batches: they are archived once. Large batches are cheap, small ones expensive: each call makes a
   * part.
   *
   * @throws {UnfitRecordError} when a vehicle id is not a UUID: the same records can never be archived. Any other error
   *   may be temporary.
   */
  insertPositions(packets: Iterable<Recorded<TelemetryPacket>>): Promise<number>;
  /**
   * Encodes the positions of packets for insertion, for callers that collect many for one insert.
   *
   * @throws {UnfitRecordError} when a vehicle id is not a UUID
   * @throws {RangeError} when a packet has more positions than it declared. Errors that a packet throws are passed on.
   */
  positionRows(packets: readonly Recorded<PackedPacket>[]): Rows;
  /** Encodes events for insertion, like {@link positionRows}. */
  eventRows(events: readonly Recorded<FleetEvent>[]): Rows;
  /** Inserts rows of one table together, as {@link insertPositions} does. Resolves with their number. */
  insert(rows: readonly Rows[]): Promise<number>;
  /** Archives events in the same way: of an event's begin and end, the end is valid. */
  insertEvents(events: Iterable<Recorded<FleetEvent>>): Promise<number>;
  /** Number of archived positions, rejected ones included. Reads the keys of the whole table: not for every request. */
  positionCount(): Promise<number>;
  eventCount(): Promise<number>;
  track(question: TrackQuestion): Promise<Track>;
  events(question: EventsQuestion): Promise<Events>;
  /** The newest events of many vehicles, the newest first. */
  recentEvents(question: RecentEventsQuestion): Promise<FleetEvent[]>;
  /** Begin of the first event of many vehicles in a time range; null without any. */
  firstEventMs(question: Pick<RecentEventsQuestion, 'vehicleIds' | 'fromMs' | 'toMs'>): Promise<number | null>;
  /** A vehicle's archived events, for a recalculation that corrects them. */
  archivedEvents(question: ArchivedEventsQuestion): Promise<ArchivedEvents>;
  /** Replaces a vehicle's reported events by recalculated ones. */
  replaceEvents(replacement: EventReplacement): Promise<void>;
  /** Time of the oldest of a vehicle's newest good and valid fixes up to a moment; null without any. */
  startOfLastFixes(question: LastFixesQuestion): Promise<number | null>;
  /** The newest good and valid fixes of many vehicles before a moment. */
  fixesBefore(question: FixesBeforeQuestion): Promise<ArchivedFix[]>;
  /** Whether something of a past interval arrived at or after a time. */
  hasLateArrivals(question: LateArrivalsQuestion): Promise<boolean>;
  /**
   * The same for many vehicles, with a result for each. Each of these takes at most 100 queries, each about a different
   * vehicle.
   */
  haveLateArrivals(questions: readonly LateArrivalsQuestion[]): Promise<boolean[]>;
  startsOfLastFixes(questions: readonly LastFixesQuestion[]): Promise<(number | null)[]>;
  archivedEventsOfMany(
    questions: readonly Omit<ArchivedEventsQuestion, 'geofenceId' | 'after' | 'limit'>[],
    limit: number,
  ): Promise<ArchivedEvents[]>;
  /** Pages of tracks with only the fields that the rules use. */
  judgedTracks(
    questions: readonly JudgedTrackQuestion[],
    limit: number,
  ): Promise<{ positions: JudgedPosition[]; next: TrackCursor | null }[]>;
  /**
   * Positions of many vehicles after a time of each, with the fields that counters use; whole positions for counters
   * that use sensors.
   */
  countedTracks(
    questions: readonly CountedTrackQuestion[],
    limit: number,
    withAttributes?: boolean,
  ): Promise<{ positions: CountedPosition[]; hasMore: boolean }[]>;
  /** Number of a vehicle's positions rejected since a time, by reason. */
  rejections(question: RejectionsQuestion): Promise<RejectedPositions[]>;
  /** Good positions of many vehicles in a time range, page by page. */
  positions(question: PositionsQuestion): Promise<Positions>;
  /** All records of a vehicle in a time range, with the fields that sensors are evaluated on, page by page. */
  records(question: RecordsQuestion): Promise<Records>;
  /** Those of the vehicles that were in a box in a time range. */
  vehiclesWithin(question: Omit<PositionsQuestion, 'limit' | 'after'> & { box: Box }): Promise<VehicleId[]>;
  /** Events of many vehicles that lasted into a time range, page by page. */
  overlappingEvents(question: OverlappingEventsQuestion): Promise<OverlappingEvents>;
  /** Events of many vehicles that have begun and not ended. */
  openEvents(question: { vehicleIds: readonly VehicleId[]; signal?: AbortSignal | undefined }): Promise<FleetEvent[]>;
  /** Sums of many vehicles' events, interval by interval. */
  tallies(question: TalliesQuestion): Promise<Tallies>;
  /** Distributes trips that cuts divide among the intervals. */
  tripParts(question: TripPartsQuestion): Promise<TripPart[]>;
  /** Removes rows from the archive permanently: called again until it is done. */
  erase(question: ErasureQuestion): Promise<ErasureProgress>;
  /** Removes rows of vehicles before a time in the same way, with `MAX_CUTS` at most. */
  eraseBefore(cuts: readonly HistoryCut[]): Promise<ErasureProgress>;
  /** Number of rows that {@link eraseBefore} would remove. */
  countBefore(cuts: readonly HistoryCut[]): Promise<HistoryRows>;
  /** Rows as a file that ClickHouse writes. */
  file(rows: FileRows): AsyncIterable<Uint8Array>;
  /** For a folder: lets the thread at the other end of a port use it, by address `{ port }`. */
  share(port: MessagePort): void;
  /**
   * Freezes the archive in a folder for a backup: hard links of its files as they are at one moment, found by
   * `archiveFiles` until {@link unfreeze}. Nothing is written to the archive until `whileHeld` ends.
   *
   * @param name letters, digits and `_`: others are escaped in names of files
   * @throws {Error} when the archive is on a server
   */
  freeze(name: string, whileHeld: () => Promise<void>): Promise<void>;
  /** Removes what was frozen under a name. */
  unfreeze(name: string): Promise<void>;
  /** For a folder: makes each query of any thread wait for `work`, such as the insert of collected rows. */
  beforeQueries(work: () => Promise<void>): void;
  /** Whether ClickHouse is open. False only for a folder that was opened `whenNeeded`, while it is not needed. */
  readonly isOpen: boolean;
  /**
   * Compares the archive with its inventory of the previous call, notes losses, and resolves with all gaps. Only parts
   * that existed at an inspection are known, so call this some time after inserts.
   *
   * @param log identity of the log that the rows come from
   */
  inspect(log: string): Promise<ArchiveGap[]>;
  /** Number of times that damage was detached through this instance. */
  readonly timesSetAside: number;
  /** The gaps of the archive, at most ten seconds old. */
  gaps(): Promise<readonly ArchiveGap[]>;
  /** Notes a changed gap. */
  updateGap(gap: ArchiveGap): Promise<void>;
  /** Reads the least recently read parts completely; damaged ones are detached and noted. */
  checkSome(scrub: Scrub): Promise<number>;
  /** Repeats the deletions that erasures made in a table since a time, in Unix milliseconds. */
  repeatErasures(table: ArchiveTable, sinceMs: number): Promise<number>;
  /** Resolves when a query can be answered. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the warehouse and brings its schema up to date. A folder belongs to one process.
 *
 * @throws {Error} when the folder or the server can't be used
 */
export async function openWarehouse(address: WarehouseAddress, options: WarehouseOptions = {}): Promise<Warehouse> {
  const prepare = async (opened: Engine) => {
    const engine = setsDamageAside(opened);
    await migrate(engine, 'path' in address);
    // Before any merge: a later merged part may have the blocks of a missing part in its name.
    await noteLosses(engine, 'path' in address);
    if (options.retentionDays !== undefined) await keepFor(engine, options.retentionDays);
    await options.onOpened?.({ identity: await identityOf(engine), updateGap: (gap) => updateGap(engine, gap) });
  };
  if ('path' in address) return warehouseOn(await openFolder(address.path, prepare, options));
  // The thread that opened the archive has migrated it.
  if ('port' in address) return warehouseOn(await (await import('./engines/chdb.ts')).connectThread(address.port));
  const engine = await (await import('./engines/server.ts')).openServer(address);
  try {
    await prepare(engine);
  } catch (error) {
    await engine.close();
    throw error;
  }
  return warehouseOn(engine);
}

async function identityOf(engine: Engine): Promise<string> {
  const sql = "SELECT uuid FROM system.tables WHERE database = currentDatabase() AND name = 'positions'";
  const [row] = await engine.select({ sql, parameters: {} });
  return String(row?.[0]);
}

/**
 * File in the folder that records the release and options it was prepared for, so that a start can check them without
 * ClickHouse.
 */
const PREPARED_FILE = 'outrider-prepared.json';

function preparedFor({ retentionDays }: WarehouseOptions): string {
  return JSON.stringify({ schema: SCHEMA_VERSIONS, retentionDays });
}

async function openFolder(
  path: string,
  prepare: (engine: Engine) => Promise<void>,
  options: WarehouseOptions,
): Promise<Engine> {
  const { openChdb, SPOOL_FOLDER } = await import('./engines/chdb.ts');
  const { whenNeeded } = options;
  const prepared = preparedFor(options);
  const file = join(path, PREPARED_FILE);
  const isNew = (await readdir(path).catch(() => [])).every((name) => name === SPOOL_FOLDER);
  const isPrepared = isNew || (await readFile(file, 'utf8').catch(() => null)) === prepared;
  const engine = await openChdb(path, {
    async prepare(opened) {
      await prepare(opened);
      // Where it can't be written, as on a full disk, the next start opens ClickHouse at once.
      await writeFile(file, prepared).catch(() => {});
    },
    ...(whenNeeded && { idle: whenNeeded }),
  });
  if (whenNeeded !== undefined && isPrepared) return engine;
  try {
    await engine.select({ sql: 'SELECT 1', parameters: {} });
    return engine;
  } catch (error) {
    await engine.close();
    throw error;
  }
}

/** Detaches damaged parts when a query meets damage, then repeats the query. */
function setsDamageAside(engine: Engine, onSetAside: () => void = () => {}): Engine {
  let settingAside: Promise<boolean> | null = null;
  return {
    ...engine,
    async select(statement) {
      try {
        return await engine.select(statement);
      } catch (error) {
        if (!(error instanceof WarehouseDamagedError)) throw error;
        settingAside ??= setAsideDamage(engine, error.message).finally(() => {
          settingAside = null;
        });
        if (!(await settingAside)) throw error;
        onSetAside();
        return engine.select(statement);
      }
    },
  };
}

/** Maximum age of the cached gaps. */
const GAPS_MS = 10_000;

function warehouseOn(opened: Engine): Warehouse {
  let timesSetAside = 0;
  const engine = setsDamageAside(opened, () => {
    timesSetAside++;
    gaps = null;
  });
  let gaps: { atMs: number; read: Promise<readonly ArchiveGap[]> } | null = null;
  const positionRows: Warehouse['positionRows'] = (packets) => ({ table: 'positions', block: packedBlock(packets) });
  const eventRows: Warehouse['eventRows'] = (recorded) => ({ table: 'events', block: eventBlock(recorded) });
  const insert: Warehouse['insert'] = async (rows) => {
    const [first] = rows;
    if (first === undefined) return 0;
    if (rows.some(({ table }) => table !== first.table)) throw new TypeError('rows of two tables');
    const blocks = rows.map(({ block }) => block);
    await engine.insert(first.table, ...blocks);
    return blocks.reduce((sum, block) => sum + block.rows, 0);
  };
  /** Work that continues after a response. */
  const unfinished = new Set<Promise<void>>();
  const later = (work: Promise<void>) => {
    unfinished.add(work);
    void work.finally(() => unfinished.delete(work));
  };
  const queriesOn = (on: Engine): ArchiveQueries => ({
    track: (question) => track(on, question),
    recentEvents: (question) => recentEvents(on, question),
    firstEventMs: (question) => firstEventMs(on, question),
    fixesBefore: (question) => fixesBefore(on, question),
    rejections: (question) => rejections(on, question),
    positions: (question) => positions(on, question),
    records: (question) => records(on, question),
    vehiclesWithin: (question) => vehiclesWithin(on, question),
    overlappingEvents: (question) => overlappingEvents(on, question),
    openEvents: (question) => openEvents(on, question),
    tallies: (question) => tallies(on, question),
    tripParts: (question) => tripParts(on, question, later),
    file: (rows) => on.file(rows),
    gaps() {
      if (gaps === null || SYSTEM_CLOCK.steadyMs() - gaps.atMs > GAPS_MS) {
        const read = readGaps(engine);
        gaps = { atMs: SYSTEM_CLOCK.steadyMs(), read };
        read.catch(() => {
          gaps = null;
        });
      }
      return gaps.read;
    },
  });
  return {
    ...queriesOn(engine),
    as: (owner) =>
      queriesOn({
        ...engine,
        select: (statement) => engine.select({ ...statement, owner }),
        file: (rows) => engine.file({ ...rows, owner }),
      }),
    insertPositions: async (packets) => insert([{ table: 'positions', block: positionBlock([...packets]) }]),
    insertEvents: async (recorded) => insert([eventRows([...recorded])]),
    positionRows,
    eventRows,
    insert,
    positionCount: () => count(engine, COUNT_POSITIONS),
    eventCount: () => count(engine, `SELECT count() FROM events FINAL WHERE ${NOT_REMOVED}`),
    events: (question) => events(engine, question),
    archivedEvents: (question) => archivedEvents(engine, question),
    replaceEvents: (replacement) => replaceEvents(engine, replacement),
    startOfLastFixes: (question) => startOfLastFixes(engine, question),
    hasLateArrivals: (question) => hasLateArrivals(engine, question),
    haveLateArrivals: (questions) => haveLateArrivals(engine, questions),
    startsOfLastFixes: (questions) => startsOfLastFixes(engine, questions),
    archivedEventsOfMany: (questions, limit) => archivedEventsOfMany(engine, questions, limit),
    judgedTracks: (questions, limit) => judgedTracks(engine, questions, limit),
    countedTracks: (questions, limit, withAttributes) => countedTracks(engine, questions, limit, withAttributes),
    erase: (question) => erase(engine, question),
    eraseBefore: (cuts) => eraseBefore(engine, cuts),
    countBefore: (cuts) => countBefore(engine, cuts),
    share(port) {
      if (engine.share === undefined) throw new Error('only chDB is shared by a port: a server is reached directly');
      engine.share(port);
    },
    async freeze(name, whileHeld) {
      if (engine.freeze === undefined) throw new Error('only chDB is frozen: a server has backups of its own');
      if (!/^\w+$/.test(name)) throw new TypeError(`${JSON.stringify(name)} is no name of a frozen archive`);
      await engine.freeze(name, whileHeld);
    },
    unfreeze: async (name) => engine.unfreeze?.(name),
    beforeQueries(work) {
      if (engine.beforeQueries === undefined) throw new Error('a server does not say who queries it');
      engine.beforeQueries(work);
    },
    get timesSetAside() {
      return timesSetAside;
    },
    get isOpen() {
      return opened.isOpen?.() ?? true;
    },
    async inspect(log) {
      const found = await inspect(engine, log);
      gaps = { atMs: SYSTEM_CLOCK.steadyMs(), read: Promise.resolve(found) };
      return found;
    },
    async updateGap(gap) {
      await updateGap(engine, gap);
      gaps = null;
    },
    checkSome: (scrub) => checkSome(engine, scrub),
    repeatErasures: (table, sinceMs) => repeatErasures(engine, table, sinceMs),
    ping: () => engine.ping(),
    async close() {
      await Promise.all(unfinished);
      await engine.close();
    },
  };
}

/**
 * Counts one position per fix time, however many records there are, and whether or not it was once judged to be in the
 * future.
 */
const COUNT_POSITIONS = `SELECT count() FROM (SELECT 1 FROM positions
  GROUP BY vehicle_id, fix_time, if(rejection = 'time-in-future', '', rejection) SETTINGS optimize_aggregation_in_order = 1)`;

async function count(engine: Engine, sql: string): Promise<number> {
  const [row] = await engine.select({ sql, parameters: {} });
  return Number(row?.[0]);
}
