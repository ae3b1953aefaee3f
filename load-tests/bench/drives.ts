import type { Position, TerminalId, VehicleId } from '@outrider/domain';
import { createTeltonikaSimulator, teltonika } from '@outrider/protocols';
import { createDriver, createRandom, createRoadNetwork, type Driver, type RoadNetwork } from '@outrider/simulator';

/** The town that all load drives in: the demo's. */
export const town: RoadNetwork = createRoadNetwork(1);

/** The terminal of a load's vehicle: 15 digits. */
export function loadTerminalId(vehicle: number): TerminalId {
  return `86${String(vehicle).padStart(13, '0')}` as TerminalId;
}

/** Where no service gave one: the id of a load's vehicle. */
export function loadVehicleId(vehicle: number): VehicleId {
  return `01990000-0000-7000-8000-${vehicle.toString(16).padStart(12, '0')}` as VehicleId;
}

/**
 * A vehicle on a round of its own through the town.
 *
 * @param vehicle any number; each has its own round
 * @param fixSeconds between the fixes that its terminal records
 */
export function loadDriver(vehicle: number, startMs: number, fixSeconds = 1): Driver {
  const random = createRandom(vehicle + 1);
  const stops: number[] = [];
  while (stops.length < 4) {
    const junction = Math.floor(random.next() * town.junctions.length);
    if (!stops.includes(junction)) stops.push(junction);
  }
  return createDriver(
    town,
    {
      stops,
      // Short: a parked vehicle makes no load.
      dwellSeconds: [5, 30],
      start: { at: 'stop', leavesAfterSeconds: 0 },
      haste: 0.2,
      topSpeedKmh: 130,
      reportSeconds: fixSeconds,
      parkedReportSeconds: fixSeconds,
      odometerM: 10_000_000 + vehicle * 1000,
      fuelL: 60,
      tankL: 70,
      litresPer100Km: 9,
    },
    vehicle,
    startMs,
  );
}

/** @returns what a vehicle's terminal records in `positions` seconds, the last one before `endMs` */
export function recordDrive(vehicle: number, positions: number, endMs: number): Position[] {
  return loadDriver(vehicle, endMs - positions * 1000).advanceTo(endMs - 1000);
}

/** A terminal's stream of packets, made before it is needed: sending it costs nothing but the sending. */
export interface Recording {
  hello: Buffer;
  bytes: Buffer;
  /** Where each packet ends in `bytes`. */
  ends: Uint32Array;
}

/** A drive as Teltonika packets of `perPacket` positions; the last may have fewer. */
export function recordPackets(vehicle: number, positions: number, perPacket: number, endMs: number): Recording {
  const terminal = createTeltonikaSimulator(loadTerminalId(vehicle));
  const hello = terminal.hello();
  if (!hello) throw new Error('a Teltonika terminal says who it is');
  const drive = recordDrive(vehicle, positions, endMs);
  const packets: Buffer[] = [];
  for (let from = 0; from < drive.length; from += perPacket)
    packets.push(terminal.encode(drive.slice(from, from + perPacket)));
  let end = 0;
  return {
    hello,
    bytes: Buffer.concat(packets),
    ends: Uint32Array.from(packets, (packet) => {
      end += packet.length;
      return end;
    }),
  };
}

/** The positions of a recording as a gateway decodes them, a list for each packet. */
export function decodePackets({ hello, bytes }: Recording): Position[][] {
  const session = teltonika.createSession();
  session.push(hello, 0);
  return session.push(bytes, 0).map((message) => {
    if (message.type !== 'positions') throw new Error(`a ${message.type} where a packet was`);
    return message.positions;
  });
}
