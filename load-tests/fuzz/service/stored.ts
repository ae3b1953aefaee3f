import { join } from 'node:path';
import type { Position, TerminalId } from '@outrider/domain';
import { openSqliteLog, telemetryTopic } from '@outrider/log';
import { tcpProtocols } from '@outrider/protocols';
import { loadVehicleId } from '../../bench/drives.ts';
import type { Conversation } from './conversation.ts';
import { GOOD_TERMINALS } from './good-clients.ts';

/** Two clocks: a time that differs between them was the server's own. */
const CLOCKS_MS = [Date.UTC(2026, 0, 1), Date.UTC(2026, 0, 2, 3, 4, 5, 678)] as const;

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

/** What may be stored of what was sent: what the codecs make of it, and nothing else. */
export class MayBeStored {
  readonly #keys = new Set<string>();

  /** Notes what a conversation with a terminals' port may leave behind. */
  note({ port, chunks }: Conversation): void {
    const protocol = tcpProtocols.find(({ name }) => name === port);
    if (!protocol) return;
    const bytes = Buffer.concat([...chunks]);
    const [first = [], second = []] = CLOCKS_MS.map((nowMs) => {
      let terminalId = '';
      const stored: { terminalId: string; position: Position }[] = [];
      for (const inbound of protocol.createSession().push(bytes, nowMs))
        if (inbound.type === 'identify') terminalId = inbound.terminalId;
        else if (inbound.type === 'positions')
          stored.push(...asKept(inbound.positions).map((position) => ({ terminalId, position })));
      return stored;
    });
    for (const [index, { terminalId, position }] of first.entries()) {
      const sameTime = second[index]?.position.fixTimeMs === position.fixTimeMs;
      this.#keys.add(`${terminalId} ${sameTime ? position.fixTimeMs : 'now'} ${placeOf(position)}`);
    }
  }

  has(terminalId: string, position: Position): boolean {
    return [position.fixTimeMs, 'now'].some((time) => this.#keys.has(`${terminalId} ${time} ${placeOf(position)}`));
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
            // Phones send HTTP, whose bodies the codec alone does not decode.
            else if (value.protocol !== 'osmand' && !may.has(value.terminalId, position))
              wrong.push(`stored for ${value.terminalId}, and never sent: ${JSON.stringify(position)}`);
          }
        }
  } finally {
    await log.close();
  }
  for (const key of missing) wrong.push(`acknowledged and not stored: ${key}`);
  return { packets, wrong };
}
