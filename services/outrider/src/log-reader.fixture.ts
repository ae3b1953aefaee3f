import { join } from 'node:path';
import { type DefinitionChange, type FleetEvent, noteCause, noteNoCause, type TelemetryPacket } from '@outrider/domain';
import { Engine } from '@outrider/engine';
import { Oracle } from '@outrider/engine/oracle';
import {
  definitionsTopic,
  eventsTopic,
  type Log,
  type LogRecord,
  openSqliteLog,
  type Topic,
  telemetryTopic,
} from '@outrider/log';

/** What a service's log holds. */
export interface LogContent {
  packets: LogRecord<TelemetryPacket>[];
  changes: DefinitionChange[];
  events: FleetEvent[];
}

/** Reads the log in the folder of a service, whether that runs or not. */
export function readLog(folder: string): Promise<LogContent> {
  return contentOf(openSqliteLog({ path: join(folder, 'log.sqlite') }));
}

/** Reads a log, partition after partition, and closes it. */
export async function contentOf(log: Log): Promise<LogContent> {
  const all = async <T>(topic: Topic<T>) => {
    const records: LogRecord<T>[] = [];
    for (const [partition, end] of await log.endOffsets(topic))
      for await (const batch of log.read(topic, partition, 'earliest', end)) records.push(...batch.records);
    return records;
  };
  try {
    return {
      packets: await all(telemetryTopic),
      changes: (await all(definitionsTopic)).map(({ value }) => value),
      events: (await all(eventsTopic)).map(({ value }) => value),
    };
  } finally {
    await log.close();
  }
}

/** What the oracle makes of what came in. Events that are made of the levels of tanks it does not know. */
export function oracleEvents(log: Pick<LogContent, 'packets' | 'changes'>): FleetEvent[] {
  const oracle = new Oracle();
  return eventsBy(log, {
    process: (packet, offset) => oracle.process(packet, offset),
    apply: (change) => oracle.apply(change),
  });
}

/** What an engine that never stops makes of what came in. */
export function engineEvents(log: Pick<LogContent, 'packets' | 'changes'>): FleetEvent[] {
  const engine = new Engine();
  return eventsBy(log, {
    process(packet, offset) {
      const events: FleetEvent[] = [];
      engine.process(packet, offset, events);
      return events;
    },
    apply: (change) => engine.applyDefinition(change),
  });
}

interface Rules {
  process(packet: TelemetryPacket, offset: number): FleetEvent[];
  apply(change: DefinitionChange): FleetEvent[];
}

/**
 * Packets and changes in the order of their times, which is that of their coming where no change came while packets
 * were on their way.
 */
function eventsBy({ packets, changes }: Pick<LogContent, 'packets' | 'changes'>, rules: Rules): FleetEvent[] {
  const events: FleetEvent[] = [];
  // A log of several partitions is read one partition after the other.
  const waiting = changes.toSorted((a, b) => a.changedAtMs - b.changedAtMs);
  for (const change of compactedVehicles(changes)) apply(change);
  for (const { offset, value } of packets) {
    while (waiting[0] && waiting[0].changedAtMs <= value.receivedAtMs) apply(waiting.shift() as DefinitionChange);
    const before = events.length;
    events.push(...rules.process(value, offset));
    noteCause(events, before, value);
  }
  for (const change of waiting) apply(change);
  return events;

  function apply(change: DefinitionChange): void {
    const ends = rules.apply(change);
    noteNoCause(ends);
    events.push(...ends);
  }
}

/**
 * Vehicles whose first change was compacted away: all that changed is what a gateway learnt of their terminals, which
 * no rule depends on.
 */
function compactedVehicles(changes: readonly DefinitionChange[]): DefinitionChange[] {
  const whole = new Set(changes.filter(({ version }) => version === 1).map(({ id }) => id));
  const compacted = changes.filter(({ kind, id }) => kind === 'vehicle' && !whole.has(id));
  return [...new Map(compacted.toReversed().map((change) => [change.id, change])).values()];
}
