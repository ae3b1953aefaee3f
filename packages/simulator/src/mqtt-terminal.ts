import { connect, type Socket } from 'node:net';
import { SYSTEM_CLOCK, type TerminalId, type Timer } from '@outrider/domain';
import type { TopicProtocol } from '@outrider/protocols';
import { generate, type Packet, parser } from 'mqtt-packet';
import { StoredPositions } from './stored-positions.ts';
import type { TerminalClient, TerminalStats } from './terminal-client.ts';

export interface MqttTerminalOptions {
  host: string;
  port: number;
  terminalId: TerminalId;
  protocol: TopicProtocol;
  user?: string;
  password?: string;
  /** Delay between attempts; default 1 s. */
  retryMs?: number;
}

/** Maximum number of unacknowledged messages. */
const WINDOW = 20;
const MAX_STORED = 10_000;

/**
 * Creates a terminal that publishes to a broker by MQTT 3.1.1, QoS 1. The broker is responsible for messages that it
 * has acknowledged.
 */
export function createMqttTerminal(options: MqttTerminalOptions): TerminalClient {
  const { terminalId, protocol, host, port, user, password, retryMs = 1000 } = options;
  const store = new StoredPositions(MAX_STORED);
  let socket: Socket | null = null;
  let online = false;
  let closed = false;
  let underWay = 0;
  let nextId = 1;
  let connections = 0;
  let acknowledgedPackets = 0;
  let lastFailure: string | null = null;
  let retry: Timer | null = null;

  const send = (packet: Packet) => socket?.write(generate(packet));
  const pump = () => {
    while (online && underWay < WINDOW) {
      const [position] = store.take(1);
      if (position === undefined) return;
      underWay++;
      send({
        ...{ cmd: 'publish', qos: 1, dup: false, retain: false, messageId: nextId },
        ...protocol.topics.encode(terminalId, position),
      } as Packet);
      nextId = (nextId % 65_535) + 1;
    }
  };
  const onPacket = (packet: Packet) => {
    if (packet.cmd === 'connack') {
      if (packet.returnCode !== 0) {
        lastFailure = `the broker refused the connection: ${packet.returnCode}`;
        socket?.destroy();
        return;
      }
      online = true;
      pump();
    } else if (packet.cmd === 'puback') {
      underWay--;
      acknowledgedPackets++;
      store.acknowledge(1);
      pump();
    }
  };
  const open = () => {
    const opened = connect({ host, port });
    socket = opened;
    const packets = parser();
    packets.on('packet', onPacket);
    packets.on('error', () => opened.destroy());
    opened.on('connect', () => {
      connections++;
      const login = user === undefined ? {} : { username: user, password: Buffer.from(password ?? '') };
      // A keepalive of 0 disables pings: the connection lasts as long as the program.
      send({
        ...{ cmd: 'connect', protocolId: 'MQTT', protocolVersion: 4, clean: true, keepalive: 0 },
        ...{ clientId: `device-${terminalId}` },
        ...login,
      });
    });
    opened.on('data', (chunk) => packets.parse(chunk as Buffer));
    opened.on('error', (error) => {
      lastFailure = error.message;
    });
    opened.on('close', () => {
      online = false;
      underWay = 0;
      store.rewind();
      if (!closed) retry = SYSTEM_CLOCK.after(retryMs, open);
    });
  };
  open();

  return {
    terminalId,
    record(positions) {
      store.add(positions);
      pump();
    },
    stats: (): TerminalStats => ({
      ...{ online, stored: store.size, acknowledged: store.acknowledged, acknowledgedPackets },
      ...{ dropped: store.dropped, connections, lastFailure },
    }),
    settled: () => store.emptied(),
    async close() {
      closed = true;
      retry?.cancel();
      send({ cmd: 'disconnect' });
      socket?.end();
      store.abandon(new Error(`terminal ${terminalId} was closed`));
    },
  };
}
