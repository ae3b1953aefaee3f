import { parentPort, workerData } from 'node:worker_threads';
import type { Position, ProtocolName } from '@outrider/domain';
import {
  type CreateSimulator,
  createQueclinkHexSimulator,
  createQueclinkRecordSimulator,
  createTeltonikaExtendedSimulator,
  decodeOsmand,
  encodeOsmandQuery,
  osmand,
  tcpProtocols,
} from '@outrider/protocols';
import { recordDrive } from '../drives.ts';
import { fastest } from '../measure.ts';

/** What is measured of one codec. */
export interface CodecTask {
  codec: string;
  positions: number;
  perPacket: number;
  /** Milliseconds to measure for. */
  forMs: number;
}

export interface CodecResult {
  codec: string;
  positionsPerFrame: number;
  bytesPerPosition: number;
  framesPerSecond: number;
  positionsPerSecond: number;
  /** The same bytes through a CRC-16 by table and nothing else, in positions a second. */
  crcPositionsPerSecond: number;
  /** Time of the CRC alone as a share of the time of the codec. */
  ofCrc: number;
}

/** What one read from a socket gives at most. */
const CHUNK_BYTES = 65_536;

/** A drive as one terminal's bytes, and what it takes to have the positions back. */
interface Encoded {
  bytes: Buffer;
  frames: number;
  positionsPerFrame: number;
  /** @returns how many positions there were */
  decode(): number;
}

const codecs: Readonly<Record<string, (drive: readonly Position[], perPacket: number) => Encoded>> = {
  ...Object.fromEntries(tcpProtocols.map(({ name, simulators }) => [name, overTcp(name, simulators[0])])),
  'teltonika 8 extended': overTcp('teltonika', createTeltonikaExtendedSimulator),
  'queclink HEX': overTcp('queclink', createQueclinkHexSimulator),
  'queclink records': overTcp('queclink', createQueclinkRecordSimulator),
  'osmand query': osmandQueries,
};

export const codecNames: readonly string[] = Object.keys(codecs);

function overTcp(
  name: ProtocolName,
  create: CreateSimulator,
): (drive: readonly Position[], perPacket: number) => Encoded {
  return (drive, perPacket) => {
    const protocol = tcpProtocols.find((each) => each.name === name);
    if (!protocol) throw new RangeError(`no codec of ${name}`);
    const terminal = create(protocol.exampleId(1));
    const hello = terminal.hello();
    const size = Math.min(perPacket, terminal.maxPositionsPerPacket);
    const packets: Buffer[] = [];
    for (let from = 0; from < drive.length; from += size) packets.push(terminal.encode(drive.slice(from, from + size)));
    const bytes = Buffer.concat(packets);
    const nowMs = Date.now();
    return {
      bytes,
      frames: packets.length,
      positionsPerFrame: size,
      decode() {
        const session = protocol.createSession();
        let decoded = 0;
        if (hello) session.push(hello, nowMs);
        for (let from = 0; from < bytes.length; from += CHUNK_BYTES)
          for (const message of session.push(bytes.subarray(from, from + CHUNK_BYTES), nowMs)) {
            if (message.type === 'positions') decoded += message.positions.length;
            else if (message.type === 'refuse') throw new Error(`${name}: ${message.detail}`);
          }
        return decoded;
      },
    };
  };
}

/** The targets of requests alone: HTTP around them is Node's. */
function osmandQueries(drive: readonly Position[]): Encoded {
  const urls = drive.map((position) => encodeOsmandQuery(osmand.exampleId(1), position));
  const nothing = Buffer.alloc(0);
  return {
    bytes: Buffer.from(urls.join('')),
    frames: urls.length,
    positionsPerFrame: 1,
    decode() {
      let decoded = 0;
      for (const url of urls) {
        const report = decodeOsmand({ method: 'POST', url, contentType: null, body: nothing, nowMs: 0 });
        if ('refused' in report) throw new Error(`osmand: ${report.detail}`);
        decoded += report.positions.length;
      }
      return decoded;
    },
  };
}

function measureCodec({ codec, positions, perPacket, forMs }: CodecTask): CodecResult {
  const drive = recordDrive(1, positions, Date.now());
  const encode = codecs[codec];
  if (encode === undefined) throw new RangeError(`no codec ${codec}`);
  const { bytes, frames, positionsPerFrame, decode } = encode(drive, perPacket);
  let checksum = 0;
  const seconds = fastest(
    {
      decode() {
        const decoded = decode();
        if (decoded !== drive.length) throw new Error(`${codec}: ${decoded} of ${drive.length} positions decoded`);
      },
      crc() {
        for (let from = 0; from < bytes.length; from += CHUNK_BYTES)
          checksum = crcOf(bytes.subarray(from, from + CHUNK_BYTES), checksum);
      },
    },
    forMs,
  );
  if (checksum > 0xffff) throw new Error('a CRC-16 has 16 bits');
  return {
    codec,
    positionsPerFrame,
    bytesPerPosition: bytes.length / drive.length,
    framesPerSecond: frames / seconds.decode,
    positionsPerSecond: drive.length / seconds.decode,
    crcPositionsPerSecond: drive.length / seconds.crc,
    ofCrc: seconds.crc / seconds.decode,
  };
}

const CRC_TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xa001 : crc >>> 1;
  return crc;
});

/** CRC-16/ARC, a byte at a time: the least that a codec with a checksum must do. */
function crcOf(bytes: Buffer, begin: number): number {
  let crc = begin;
  for (let i = 0; i < bytes.length; i++) crc = (crc >>> 8) ^ (CRC_TABLE[(crc ^ (bytes[i] as number)) & 0xff] as number);
  return crc;
}

// Each in a thread of its own: what the compiler made of one codec, it would keep for the next.
if (parentPort) parentPort.postMessage(measureCodec(workerData as CodecTask));
