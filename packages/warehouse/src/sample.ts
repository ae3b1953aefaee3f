import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { blankPosition, type Position, type TelemetryPacket, type TerminalId, type VehicleId } from '@outrider/domain';
import type { Recorded } from './recorded.ts';

/*
 * Generated tracks for measurements: realistic data of a fleet's terminals, so that sizes and rates are those of real
 * data and not of noise.
 */

/** A deterministic generator of numbers in [0, 1) for a seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}

export function sampleVehicleId(vehicle: number): VehicleId {
  return `0190a1b2-c3d4-7${(vehicle % 4096).toString(16).padStart(3, '0')}-8a5b-${(vehicle * 2654435761).toString(16).padStart(12, '0').slice(-12)}` as VehicleId;
}

export interface FleetSample {
  vehicles: number;
  positions: number;
  /** Positions per packet. */
  perPacket: number;
  /** Unix milliseconds of the first fix. */
  startMs: number;
}

/**
 * Packets of a driving fleet, in log order: the vehicles take turns in sending a packet. A fix every 10 s or so; speed,
 * course and satellites vary as in traffic, ignition and supply change together, and each position carries two
 * attributes.
 */
export function fleetPackets({ vehicles, positions, perPacket, startMs }: FleetSample): Recorded<TelemetryPacket>[] {
  const random = seededRandom(20_080_624);
  const cars = Array.from({ length: vehicles }, (_, vehicle) => ({
    vehicleId: sampleVehicleId(vehicle),
    terminalId: `35${String(6_307_000_000_000 + vehicle * 7)}` as TerminalId,
    timeMs: startMs + Math.floor(random() * 10_000),
    latitude: 55.75 + (random() - 0.5),
    longitude: 37.62 + (random() - 0.5),
    speedKmh: 40,
    courseDeg: Math.floor(random() * 360),
    altitudeM: 150,
    odometerM: Math.floor(random() * 300_000_000),
    fuelL: 40,
  }));
  const packets: Recorded<TelemetryPacket>[] = [];
  for (let made = 0; made < positions; ) {
    for (let vehicle = 0; vehicle < vehicles && made < positions; vehicle++) {
      const car = cars[vehicle] as (typeof cars)[number];
      const batch: Position[] = [];
      for (let i = 0; i < perPacket && made < positions; i++, made++) {
        const seconds = random() < 0.9 ? 10 : 5 + Math.floor(random() * 10);
        car.timeMs += seconds * 1000;
        car.speedKmh = Math.max(0, Math.min(110, car.speedKmh + (random() - 0.5) * 12));
        if (car.speedKmh > 3) car.courseDeg = (car.courseDeg + 360 + Math.round((random() - 0.5) * 14)) % 360;
        const metres = (car.speedKmh / 3.6) * seconds;
        const bearing = (car.courseDeg * Math.PI) / 180;
        car.latitude += (metres * Math.cos(bearing)) / 111_320 + (random() - 0.5) * 2e-5;
        car.longitude += (metres * Math.sin(bearing)) / 62_650 + (random() - 0.5) * 2e-5;
        car.odometerM += Math.round(metres);
        car.fuelL = Math.max(5, car.fuelL - metres / 1_200_000);
        car.altitudeM += Math.round((random() - 0.5) * 4);
        const position = blankPosition(
          car.timeMs,
          Math.round(car.latitude * 1e7) / 1e7,
          Math.round(car.longitude * 1e7) / 1e7,
        );
        position.speedKmh = Math.round(car.speedKmh);
        position.courseDeg = car.courseDeg;
        position.altitudeM = car.altitudeM;
        position.satellites = 9 + Math.floor(random() * 6);
        position.ignition = true;
        position.odometerM = car.odometerM;
        position.supplyV = Math.round((13.8 + random() * 0.4) * 100) / 100;
        position.fuelL = Math.round(car.fuelL * 10) / 10;
        position.attributes = { hdop: Math.round(7 + random() * 5) / 10, gsm: 2 + Math.floor(random() * 4) };
        batch.push(position);
      }
      packets.push({
        offset: packets.length,
        value: {
          vehicleId: car.vehicleId,
          terminalId: car.terminalId,
          protocol: 'teltonika',
          receivedAtMs: car.timeMs + 700 + Math.floor(random() * 600),
          positions: batch,
        },
      });
    }
  }
  return packets;
}

/**
 * The packets of a recorded drive: a gzipped CSV of `lat,lng,datetime` rows in UTC. Speed and course are computed from
 * neighbouring fixes, in place of a receiver's. Null if the file does not exist.
 */
export function recordedPackets(file: URL, perPacket: number): Recorded<TelemetryPacket>[] | null {
  let text: string;
  try {
    text = gunzipSync(readFileSync(file)).toString();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  const positions: Position[] = [];
  let before: Position | undefined;
  for (const line of text.split('\n').slice(1)) {
    const [latitude, longitude, time] = line.split(',');
    if (time === undefined) continue;
    const position = blankPosition(Date.parse(`${time.replace(' ', 'T')}Z`), Number(latitude), Number(longitude));
    if (before) {
      const north = (position.latitude - before.latitude) * 111_320;
      const east = (position.longitude - before.longitude) * 111_320 * Math.cos((position.latitude * Math.PI) / 180);
      const seconds = (position.fixTimeMs - before.fixTimeMs) / 1000;
      if (seconds > 0) position.speedKmh = Math.round((Math.hypot(north, east) / seconds) * 36) / 10;
      position.courseDeg = (Math.round((Math.atan2(east, north) * 180) / Math.PI) + 360) % 360;
    }
    positions.push(position);
    before = position;
  }
  const packets: Recorded<TelemetryPacket>[] = [];
  for (let from = 0; from < positions.length; from += perPacket) {
    const batch = positions.slice(from, from + perPacket);
    packets.push({
      offset: packets.length,
      value: {
        vehicleId: sampleVehicleId(1),
        terminalId: '356307000000001' as TerminalId,
        protocol: 'osmand',
        receivedAtMs: (batch.at(-1)?.fixTimeMs ?? 0) + 900,
        positions: batch,
      },
    });
  }
  return packets;
}
