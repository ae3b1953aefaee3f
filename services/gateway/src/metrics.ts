import type { Correctable, ProtocolName } from '@outrider/domain';
import { Counter, Gauge, type Metrics } from '@outrider/runtime';

export interface ProtocolMetrics {
  connections: { inc(): void; dec(): void };
  packets: { inc(by: number): void };
  positions: { inc(by: number): void };
  acknowledged: { inc(by: number): void };
  withoutVehicle: { inc(by: number): void };
  texts: { inc(by: number): void };
  datagrams: { inc(by: number): void };
}

export function gatewayMetrics(registry: Metrics) {
  const labelNames = ['protocol'];
  const registers = [registry];
  const connections = new Gauge({
    name: 'outrider_terminal_connections',
    help: 'Terminals connected now',
    labelNames,
    registers,
  });
  const packets = new Counter({
    name: 'outrider_packets_received_total',
    help: 'Packets taken',
    labelNames,
    registers,
  });
  const positions = new Counter({
    name: 'outrider_positions_received_total',
    help: 'Positions taken',
    labelNames,
    registers,
  });
  const acknowledged = new Counter({
    name: 'outrider_packets_acknowledged_total',
    help: 'Packets acknowledged: durable in the log',
    labelNames,
    registers,
  });
  const withoutVehicle = new Counter({
    name: 'outrider_positions_without_vehicle_total',
    help: 'Positions of video terminals that are not the terminal of their vehicle: not taken',
    labelNames,
    registers,
  });
  const texts = new Counter({
    name: 'outrider_terminal_texts_total',
    help: 'Messages of text received from terminals',
    labelNames,
    registers,
  });
  const datagrams = new Counter({
    name: 'outrider_datagrams_received_total',
    help: 'Datagrams received from terminals by UDP, refused ones included',
    labelNames,
    registers,
  });
  const refused = new Counter({
    name: 'outrider_refusals_total',
    help: 'Connections, requests and datagrams refused, by reason',
    labelNames: ['protocol', 'reason'],
    registers,
  });
  const corrected = new Counter({
    name: 'outrider_positions_corrected_total',
    help: 'Positions with a known error of receivers that was corrected: a date before the rollover of the GPS week, a speed that no vehicle drives, a place of more than 100 m accuracy',
    labelNames: ['error'],
    registers,
  });
  return {
    of: (protocol: ProtocolName): ProtocolMetrics => ({
      connections: connections.labels(protocol),
      packets: packets.labels(protocol),
      positions: positions.labels(protocol),
      acknowledged: acknowledged.labels(protocol),
      withoutVehicle: withoutVehicle.labels(protocol),
      texts: texts.labels(protocol),
      datagrams: datagrams.labels(protocol),
    }),
    unread(bytes: () => number) {
      new Gauge({
        name: 'outrider_terminal_unread_bytes',
        help: 'Bytes of answers that terminals have not read yet',
        registers,
        collect() {
          this.set(bytes());
        },
      });
    },
    corrected(error: Correctable) {
      corrected.labels(error).inc();
    },
    refused(protocol: ProtocolName, reason: string) {
      refused.labels(protocol, reason).inc();
    },
  };
}
