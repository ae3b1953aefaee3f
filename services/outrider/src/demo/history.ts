import type { Alarm, Position, TelemetryPacket, TerminalId, VehicleId } from '@outrider/domain';
import { type Log, telemetryTopic } from '@outrider/log';
import { createRandom, type DemoVehicle, type Driver } from '@outrider/simulator';

/** A vehicle whose history is written. */
export interface PastVehicle {
  vehicle: DemoVehicle;
  vehicleId: VehicleId;
  driver: Driver;
}

/** Result of {@link writeHistory}. */
export interface WrittenHistory {
  positions: number;
  /** Unix milliseconds of the newest fix of each vehicle that has any. */
  lastFixMs: Map<VehicleId, number>;
}

const DAY_MS = 86_400_000;
/** Time range whose packets are sorted by their time of receipt at once, over all vehicles. */
const SLICE_MS = 7_200_000;
const POSITIONS_PER_PACKET = 8;
/** Probability of each alarm per record of a moving vehicle. */
const ALARMS: readonly [alarm: Alarm, chance: number][] = [
  ['harsh-braking', 1 / 4000],
  ['harsh-cornering', 1 / 7000],
  ['harsh-acceleration', 1 / 5000],
  ['sos', 1 / 60_000],
  ['power-cut', 1 / 40_000],
];

/**
 * Drives the vehicles through a time range and appends the records of their terminals to the log, as if a gateway had
 * received them at that time. Rules, archive and notifications then process them like live data.
 *
 * @param onProgress called with the completed share
 */
export async function writeHistory(
  log: Pick<Log, 'append'>,
  vehicles: readonly PastVehicle[],
  { fromMs, toMs }: { fromMs: number; toMs: number },
  onProgress: (share: number) => void,
): Promise<WrittenHistory> {
  const random = createRandom(fromMs % 2 ** 31);
  const written: WrittenHistory = { positions: 0, lastFixMs: new Map() };
  for (let atMs = fromMs; atMs < toMs; ) {
    atMs = Math.min(toMs, atMs + SLICE_MS);
    const packets: TelemetryPacket[] = [];
    for (const { vehicle, vehicleId, driver } of vehicles) {
      const untilMs = vehicle.silentForDays === null ? toMs : toMs - vehicle.silentForDays * DAY_MS;
      const positions = driver
        .advanceTo(atMs)
        .filter(({ fixTimeMs }) => fixTimeMs >= fromMs && fixTimeMs < Math.min(untilMs, toMs));
      for (const position of positions) raiseAlarm(position, random.next());
      packets.push(...packetsOf(vehicle, vehicleId, positions, random.next));
      written.positions += positions.length;
      const last = positions.at(-1);
      if (last !== undefined) written.lastFixMs.set(vehicleId, last.fixTimeMs);
    }
    packets.sort((a, b) => a.receivedAtMs - b.receivedAtMs);
    await log.append(telemetryTopic, packets);
    onProgress((atMs - fromMs) / (toMs - fromMs));
  }
  return written;
}

function raiseAlarm(position: Position, lot: number): void {
  if ((position.speedKmh ?? 0) < 20) return;
  let reached = 0;
  for (const [alarm, chance] of ALARMS) {
    reached += chance;
    if (lot >= reached) continue;
    position.alarms = [alarm];
    return;
  }
}

/** Packets of a terminal. A terminal that has waited longer than its interval sends what it has. */
function packetsOf(
  { protocol, profile, plan }: DemoVehicle,
  vehicleId: VehicleId,
  positions: readonly Position[],
  random: () => number,
): TelemetryPacket[] {
  const terminalId = profile.terminalId as TerminalId;
  const longestMs = plan.parkedReportSeconds * 1000;
  const packets: TelemetryPacket[] = [];
  let packet: Position[] = [];
  const send = () => {
    const last = packet.at(-1);
    if (last === undefined) return;
    const receivedAtMs = last.fixTimeMs + 300 + Math.floor(random() * 900);
    packets.push({ vehicleId, terminalId, protocol, receivedAtMs, positions: packet });
    packet = [];
  };
  for (const position of positions) {
    const before = packet.at(-1);
    if (packet.length === POSITIONS_PER_PACKET) send();
    else if (before !== undefined && position.fixTimeMs - before.fixTimeMs > longestMs) send();
    packet.push(position);
  }
  send();
  return packets;
}
