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
    help: 'Connected terminals',
    labelNames,
    registers,
  });
  const packets = new Counter({
    name: 'outrider_packets_received_total',
    help: 'Packets accepted from terminals',
    labelNames,
    registers,
  });
  const positions = new Counter({
    name: 'outrider_positions_received_total',
    help: 'Positions accepted from terminals',
    labelNames,
    registers,
  });
  const acknowledged = new Counter({
    name: 'outrider_packets_acknowledged_total',
    help: 'Packets acknowledged to terminals after they were stored durably in the log',
    labelNames,
    registers,
  });
  const withoutVehicle = new Counter({
    name: 'outrider_positions_without_vehicle_total',
    help: 'Positions dropped because they came from a video terminal that is not the terminal of its vehicle',
    labelNames,
    registers,
  });
  const texts = new Counter({
    name: 'outrider_terminal_texts_total',
    help: 'Text messages received from terminals',
    labelNames,
    registers,
  });
  const datagrams = new Counter({
    name: 'outrider_datagrams_received_total',
    help: 'UDP datagrams received from terminals, including refused ones',
    labelNames,
    registers,
  });
  const refused = new Counter({
    name: 'outrider_refusals_total',
    help: 'Refused connections, requests and datagrams, by reason',
    labelNames: ['protocol', 'reason'],
    registers,
  });
  const corrected = new Counter({
    name: 'outrider_positions_corrected_total',
    help: 'Positions corrected for a known receiver error, by error: GPS week rollover, impossible speed, or accuracy worse than 100 m',
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
        help: 'Bytes of responses not yet read by terminals',
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
