import { crc16Arc, createTeltonikaSimulator } from '@outrider/protocols';
import { loadDriver, loadTerminalId } from '../drives.ts';

/** A Teltonika packet whose times are set when it is sent. */
interface TimelessPacket {
  bytes: Buffer;
  /** Where the times of its fixes are. */
  timesAt: readonly number[];
}

/**
 * A drive there and back again and again, made into packets before it is needed: sending one is copying it, and setting
 * times and check sum.
 */
export interface Round {
  packets: readonly TimelessPacket[];
}

/** Of Teltonika's frame over TCP: zeros and length before what is summed up, the sum behind it. */
const HEADER_BYTES = 8;
const SUM_BYTES = 4;

/** @param packets of each way */
export function recordRound(vehicle: number, packets: number, perPacket: number, fixSeconds: number): Round {
  const simulator = createTeltonikaSimulator(loadTerminalId(vehicle));
  // Any time does, as it is another in the end.
  const beginMs = Date.UTC(2025, 0, 1);
  const endMs = beginMs + packets * perPacket * fixSeconds * 1000;
  const there = loadDriver(vehicle, beginMs, fixSeconds)
    .advanceTo(endMs)
    .slice(0, packets * perPacket);
  const round: TimelessPacket[] = [];
  for (const way of [there, there.toReversed()])
    for (let from = 0; from < way.length; from += perPacket) {
      const fixes = way.slice(from, from + perPacket);
      const times = fixes.map((_, nth) => beginMs + nth);
      const bytes = simulator.encode(fixes.map((fix, nth) => ({ ...fix, fixTimeMs: times[nth] as number })));
      const timesAt: number[] = [];
      const wanted = Buffer.alloc(8);
      for (const time of times) {
        wanted.writeBigInt64BE(BigInt(time));
        const at = bytes.indexOf(wanted, (timesAt.at(-1) ?? -8) + 8);
        if (at < 0) throw new Error('a packet without the time of its fix');
        timesAt.push(at);
      }
      round.push({ bytes, timesAt });
    }
  return { packets: round };
}

/** The packet with these times of its fixes, the last of which is `lastMs`. */
export function timed({ bytes, timesAt }: TimelessPacket, lastMs: number, apartMs: number): Buffer {
  const packet = Buffer.from(bytes);
  for (let nth = 0; nth < timesAt.length; nth++) {
    const timeMs = lastMs - (timesAt.length - 1 - nth) * apartMs;
    const at = timesAt[nth] as number;
    packet.writeUInt32BE(Math.floor(timeMs / 0x1_0000_0000), at);
    packet.writeUInt32BE(timeMs % 0x1_0000_0000, at + 4);
  }
  const end = packet.length - SUM_BYTES;
  packet.writeUInt32BE(crc16Arc(packet, HEADER_BYTES, end), end);
  return packet;
}
