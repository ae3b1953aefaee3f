import { join } from 'node:path';
import type { Position, TerminalId } from '@outrider/domain';
import { openSqliteLog, telemetryTopic } from '@outrider/log';
import { tcpProtocols } from '@outrider/protocols';
import { loadVehicleId } from '../../bench/drives.ts';
import { HTTP_PORTS } from './attacks.ts';
import type { Conversation } from './conversation.ts';
import { GOOD_TERMINALS } from './good-clients.ts';

/** Two clocks: a time that differs between them was the server's own. */
const CLOCK_MS = Date.UTC(2026, 0, 1);
const OTHER_CLOCK_MS = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
/** Between the chunks of a conversation, on a clock that shows which times go on with it. */
const PAUSE_MS = 1000;
/** No conversation takes longer, on a busy machine neither. */
const MAX_CONVERSATION_MS = 120_000;

/** When a position may have been, in Unix milliseconds, both included. */
interface Times {
  fromMs: number;
  toMs: number;
}

interface Decoded {
  terminalId: string;
  position: Position;
}

const placeOf = ({ latitude, longitude }: Position): string =>
  `${Math.round(latitude * 1e7)} ${Math.round(longitude * 1e7)}`;

/** Positions as the log stores them: a value beyond the range of its field is clamped. */
function asKept(positions: Position[]): readonly Position[] {
  const packet = {
    vehicleId: loadVehicleId(0),
    terminalId: '' as TerminalId,
    protocol: 'jt808' as const,
    receivedAtMs: 0,
    positions,
  };
  return telemetryTopic.decode(telemetryTopic.encode(packet)).positions;
}

/** What the codec of a protocol makes of chunks that come `pauseMs` after each other. */
function decoded(
  protocol: (typeof tcpProtocols)[number],
  chunks: readonly Buffer[],
  startMs: number,
  pauseMs: number,
): Decoded[] {
  const session = protocol.createSession();
  let terminalId = '';
  const positions: Decoded[] = [];
  for (const [nth, chunk] of chunks.entries())
    for (const inbound of session.push(chunk, startMs + nth * pauseMs))
      if (inbound.type === 'identify') terminalId = inbound.terminalId;
      else if (inbound.type === 'positions')
        for (const position of asKept(inbound.positions))
          positions.push({ terminalId: inbound.terminalId ?? terminalId, position });
  return positions;
}

/** What may be stored of what was sent: what the codecs make of it, and nothing else. */
export class MayBeStored {
  readonly #times = new Map<string, Times[]>();

  /** Notes what a conversation with a terminals' port may leave behind. */
  note({ port, chunks }: Pick<Conversation, 'port' | 'chunks'>): void {
    const protocol = tcpProtocols.find(({ name }) => name === port);
    if (!protocol) return;
    const inChunks = [...chunks];
    const whole = [Buffer.concat(inChunks)];
    const atOnce = decoded(protocol, whole, CLOCK_MS, 0);
    const byOtherClock = decoded(protocol, whole, OTHER_CLOCK_MS, 0);
    const withPauses = decoded(protocol, inChunks, CLOCK_MS, PAUSE_MS);
    for (const [nth, { terminalId, position }] of atOnce.entries()) {
      const timeMs = position.fixTimeMs;
      const isServersTime = byOtherClock[nth]?.position.fixTimeMs !== timeMs;
      // A text of a terminal has the time of the record before it, and what passed since.
      const goesOn = withPauses[nth]?.position.fixTimeMs !== timeMs;
      const times = isServersTime
        ? { fromMs: Number.NEGATIVE_INFINITY, toMs: Number.POSITIVE_INFINITY }
        : { fromMs: timeMs, toMs: goesOn ? timeMs + MAX_CONVERSATION_MS : timeMs };
      const key = `${terminalId} ${placeOf(position)}`;
      this.#times.set(key, [...(this.#times.get(key) ?? []), times]);
    }
  }

  has(terminalId: string, position: Position): boolean {
    const all = this.#times.get(`${terminalId} ${placeOf(position)}`) ?? [];
    return all.some(({ fromMs, toMs }) => fromMs <= position.fixTimeMs && position.fixTimeMs <= toMs);
  }
}

/**
 * Holds the log of a service that has ended against what was sent to it.
 *
 * @param acknowledged to honest clients: `terminal fixTimeMs`
 * @returns what is wrong
 */
export async function checkStored(
  dataFolder: string,
  acknowledged: readonly string[],
  may: MayBeStored,
): Promise<{ packets: number; wrong: string[] }> {
  const wrong: string[] = [];
  const missing = new Set(acknowledged);
  let packets = 0;
  const log = openSqliteLog({ path: join(dataFolder, 'log.sqlite') });
  try {
    for (const [partition, end] of await log.endOffsets(telemetryTopic))
      for await (const { records } of log.read(telemetryTopic, partition, 'earliest', end))
        for (const { value } of records) {
          packets++;
          for (const position of value.positions) {
            const isGood = GOOD_TERMINALS.includes(value.terminalId);
            if (isGood) missing.delete(`${value.terminalId} ${position.fixTimeMs}`);
            // Phones and platforms send HTTP, whose bodies the codec alone does not decode.
            else if (!HTTP_PORTS.has(value.protocol) && !may.has(value.terminalId, position))
              wrong.push(`stored for ${value.terminalId}, and never sent: ${JSON.stringify(position)}`);
          }
        }
  } finally {
    await log.close();
  }
  for (const key of missing) wrong.push(`acknowledged and not stored: ${key}`);
  return { packets, wrong };
}
