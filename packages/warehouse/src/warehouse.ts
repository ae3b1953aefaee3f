import type { FleetEvent, TelemetryPacket } from '@outrider/domain';
import type { Engine } from './engines/engine.ts';
import { eventBlock } from './events/block.ts';
import { migrate } from './migrations.ts';
import { positionBlock } from './positions/block.ts';
import type { Recorded } from './recorded.ts';
import { type Events, type EventsQuestion, events } from './reports/events.ts';
import { type RecentEventsQuestion, recentEvents } from './reports/recent-events.ts';
import { type Track, type TrackQuestion, track } from './reports/track.ts';

/** Where the warehouse is: a folder of this process (chDB), or a ClickHouse server. */
export type WarehouseAddress =
  | { path: string }
  | { url: string; username?: string; password?: string; database?: string };

/** The archive of positions and events. */
export interface Warehouse {
  /**
   * Archives the positions of packets. Resolves with the number of positions when they are durable. The same records
   * may come again, in any batches: they are archived once. Big batches are cheap, small ones dear: each call makes a part.
   *
   * @throws {UnfitRecordError} when a vehicle id is not a UUID: the same records can never be archived. Any other error may pass.
   */
  insertPositions(packets: Iterable<Recorded<TelemetryPacket>>): Promise<number>;
  /** The same for events: of an event's begin and end, its end stands. */
  insertEvents(events: Iterable<Recorded<FleetEvent>>): Promise<number>;
  /** Positions archived, rejected ones included. Reads the keys of the whole table: not for every request. */
  positionCount(): Promise<number>;
  eventCount(): Promise<number>;
  track(question: TrackQuestion): Promise<Track>;
  events(question: EventsQuestion): Promise<Events>;
  /** The newest events of many vehicles, the newest first. */
  recentEvents(question: RecentEventsQuestion): Promise<FleetEvent[]>;
  /** Resolves when a query can be answered. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the warehouse and brings its schema up to date.
 *
 * Embedded, a process holds one warehouse at a time, opened by one of its threads (any), and a folder belongs to one process.
 *
 * @throws {Error} when the folder or the server can't be used
 */
export async function openWarehouse(address: WarehouseAddress): Promise<Warehouse> {
  const engine = await openEngine(address);
  try {
    await migrate(engine);
  } catch (error) {
    await engine.close();
    throw error;
  }
  return warehouseOn(engine);
}

async function openEngine(address: WarehouseAddress): Promise<Engine> {
  if ('path' in address) return (await import('./engines/chdb.ts')).openChdb(address.path);
  return (await import('./engines/server.ts')).openServer(address);
}

function warehouseOn(engine: Engine): Warehouse {
  return {
    async insertPositions(packets) {
      const block = positionBlock([...packets]);
      await engine.insert('positions', block);
      return block.rows;
    },
    async insertEvents(recorded) {
      const block = eventBlock([...recorded]);
      await engine.insert('events', block);
      return block.rows;
    },
    positionCount: () => count(engine, 'positions'),
    eventCount: () => count(engine, 'events'),
    track: (question) => track(engine, question),
    events: (question) => events(engine, question),
    recentEvents: (question) => recentEvents(engine, question),
    ping: () => engine.ping(),
    close: () => engine.close(),
  };
}

async function count(engine: Engine, table: 'positions' | 'events'): Promise<number> {
  const [row] = await engine.select({ sql: `SELECT count() FROM ${table} FINAL`, parameters: {} });
  return Number(row?.[0]);
}
