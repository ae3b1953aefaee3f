import { connect, isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { type Clock, SYSTEM_CLOCK, type Timer } from '@outrider/domain';
import { isWrongMqttVersion, MQTT_FIRST_FAILURE, mqttReason } from '@outrider/protocols';
import { generate, type IConnackPacket, type ISubackPacket, type Packet, parser } from 'mqtt-packet';
import { createWebSocketStream, WebSocket } from 'ws';
import type { BrokerConnection, BrokerEvents, ConnectBroker } from './connection.ts';

export interface MqttOptions {
  /** `mqtt://`, `mqtts://`, `ws://` or `wss://`, with user and password. */
  url: string;
  clientId: string;
  filters: readonly string[];
  /** Default 30 s. */
  keepAliveSeconds?: number;
  clock?: Clock;
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'mqtt:': 1883, 'mqtts:': 8883 };
const CONNECT_TIMEOUT_MS = 20_000;
const KEEP_ALIVE_SECONDS = 30;
/** Time for which the broker keeps messages while no gateway is connected. */
const SESSION_SECONDS = 7 * 86_400;
/** Limit of messages that the broker may send before the first of them is acknowledged. */
export const MAX_UNACKNOWLEDGED = 1000;
export const MAX_UNACKNOWLEDGED_BYTES = 8 * 1024 * 1024;
export const MAX_MESSAGE_BYTES = 1024 * 1024;
/** Limit of acknowledgements that the broker has not read. */
const MAX_UNSENT_BYTES = 1024 * 1024;
const SESSION_TAKEN_OVER = 142;

/** Connects by MQTT 5, or by MQTT 3.1.1 if the broker supports nothing newer. */
export function mqttConnector(options: MqttOptions): ConnectBroker {
  let version: 4 | 5 = 5;
  return (events) =>
    new MqttConnection(options, version, events, () => {
      version = version === 5 ? 4 : 5;
    });
}

/** A message of QoS 1 whose acknowledgement has not been sent. */
interface Unacknowledged {
  messageId: number;
  bytes: number;
  isDone: boolean;
}

class MqttConnection implements BrokerConnection {
  readonly #options: MqttOptions;
  readonly #clock: Clock;
  readonly #version: 4 | 5;
  readonly #events: BrokerEvents;
  readonly #onWrongVersion: () => void;
  readonly #stream: Duplex;
  readonly #keepAliveMs: number;
  readonly #timeout: Timer;
  #pinging: Timer | null = null;
  /** In order of arrival, in which MQTT requires acknowledgements. */
  readonly #unacknowledged: Unacknowledged[] = [];
  #unacknowledgedBytes = 0;
  #isHeld = false;
  #isPaused = false;
  #isClosed = false;
  #lastReceivedMs: number;

  constructor(options: MqttOptions, version: 4 | 5, events: BrokerEvents, onWrongVersion: () => void) {
    this.#options = options;
    this.#clock = options.clock ?? SYSTEM_CLOCK;
    this.#lastReceivedMs = this.#clock.steadyMs();
    this.#version = version;
    this.#events = events;
    this.#onWrongVersion = onWrongVersion;
    this.#keepAliveMs = (options.keepAliveSeconds ?? KEEP_ALIVE_SECONDS) * 1000;
    this.#stream = openStream(new URL(options.url), () => this.#greet());
    this.#timeout = this.#clock.after(CONNECT_TIMEOUT_MS, () => this.#close('no answer in time'));
    const packets = parser({ protocolVersion: version });
    packets.on('packet', (packet) => this.#onPacket(packet));
    packets.on('error', (error: Error) => this.#close(`not MQTT: ${error.message}`));
    this.#stream.on('data', (chunk: Buffer) => {
      this.#lastReceivedMs = this.#clock.steadyMs();
      if (this.#isClosed) return;
      if (packets.parse(chunk) > MAX_MESSAGE_BYTES) this.#close(`a message of more than ${MAX_MESSAGE_BYTES} bytes`);
    });
    this.#stream.on('error', (error) => this.#close(reasonOf(error)));
    this.#stream.on('close', () => this.#close('the broker closed the connection'));
    this.#stream.on('end', () => this.#close('the broker closed the connection'));
  }

  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    this.#readOrPause();
  }

  end(): void {
    if (this.#isClosed) return;
    this.#send({ cmd: 'disconnect' });
    this.#stream.end();
    this.#close('ended');
  }

  #greet(): void {
    const { username, password } = new URL(this.#options.url);
    this.#send({
      cmd: 'connect',
      protocolId: 'MQTT',
      protocolVersion: this.#version,
      clientId: this.#options.clientId,
      clean: false,
      keepalive: Math.round(this.#keepAliveMs / 1000),
      ...(username === '' ? {} : { username: decodeURIComponent(username) }),
      ...(password === '' ? {} : { password: Buffer.from(decodeURIComponent(password)) }),
      ...(this.#version === 5
        ? {
            properties: {
              sessionExpiryInterval: SESSION_SECONDS,
              receiveMaximum: MAX_UNACKNOWLEDGED,
              maximumPacketSize: MAX_MESSAGE_BYTES,
            },
          }
        : {}),
    });
  }

  #onPacket(packet: Packet): void {
    if (this.#isClosed) return;
    switch (packet.cmd) {
      case 'connack':
        return this.#onConnack(packet);
      case 'suback':
        return this.#onSuback(packet);
      case 'publish': {
        const { topic, qos, messageId, payload, length = 0 } = packet;
        const message = { topic, payload: Buffer.isBuffer(payload) ? Buffer.from(payload) : Buffer.from(payload) };
        if (qos === 0 || messageId === undefined) return this.#events.onMessage(message, null);
        const entry = { messageId, bytes: length, isDone: false };
        this.#unacknowledged.push(entry);
        this.#unacknowledgedBytes += length;
        this.#readOrPause();
        return this.#events.onMessage(message, () => {
          entry.isDone = true;
          this.#acknowledge();
        });
      }
      case 'disconnect':
        return this.#close(
          packet.reasonCode === SESSION_TAKEN_OVER
            ? 'another client connected with the same client id'
            : `the broker disconnected: reason ${packet.reasonCode ?? 0}`,
        );
    }
  }

  #onConnack({ returnCode, reasonCode }: IConnackPacket): void {
    const code = reasonCode ?? returnCode ?? 0;
    if (code !== 0) {
      if (isWrongMqttVersion(code)) this.#onWrongVersion();
      return this.#close(`the broker refused the connection: ${mqttReason(code)}`);
    }
    // For existing subscriptions the broker need not send retained messages again (MQTT 5).
    const subscriptions = this.#options.filters.map((topic) => ({ topic, qos: 1 as const, rh: 1 }));
    this.#send({ cmd: 'subscribe', messageId: 1, subscriptions });
  }

  #onSuback({ granted }: ISubackPacket): void {
    const refused = this.#options.filters.filter(
      (_, nth) => Number(granted[nth] ?? MQTT_FIRST_FAILURE) >= MQTT_FIRST_FAILURE,
    );
    if (refused.length > 0) return this.#close(`the broker refused the topics ${refused.join(', ')}`);
    this.#timeout.cancel();
    this.#pinging ??= this.#clock.every(this.#keepAliveMs / 2, () => this.#ping());
    this.#events.onReady();
  }

  #ping(): void {
    const nowMs = this.#clock.steadyMs();
    if (this.#isPaused) this.#lastReceivedMs = nowMs;
    if (nowMs - this.#lastReceivedMs > 1.5 * this.#keepAliveMs) return this.#close('the broker is silent');
    this.#send({ cmd: 'pingreq' });
  }

  #acknowledge(): void {
    let [first] = this.#unacknowledged;
    while (first?.isDone && !this.#isClosed) {
      this.#unacknowledged.shift();
      this.#unacknowledgedBytes -= first.bytes;
      this.#send({ cmd: 'puback', messageId: first.messageId });
      [first] = this.#unacknowledged;
    }
    this.#readOrPause();
  }

  /**
   * Limits unacknowledged messages. A broker with MQTT 3.1.1 knows no limit: further messages wait in the connection.
   */
  #readOrPause(): void {
    const isPaused =
      this.#isHeld ||
      this.#unacknowledged.length >= MAX_UNACKNOWLEDGED ||
      this.#unacknowledgedBytes >= MAX_UNACKNOWLEDGED_BYTES;
    if (isPaused === this.#isPaused || this.#isClosed) return;
    this.#isPaused = isPaused;
    if (isPaused) this.#stream.pause();
    else this.#stream.resume();
  }

  #send(packet: Packet): void {
    if (this.#isClosed) return;
    this.#stream.write(generate(packet, { protocolVersion: this.#version }));
    if (this.#stream.writableLength > MAX_UNSENT_BYTES) this.#close('the broker does not read');
  }

  #close(reason: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#timeout.cancel();
    this.#pinging?.cancel();
    if (this.#stream.writableEnded) {
      this.#stream.resume();
      this.#clock.after(1000, () => this.#stream.destroy()).unref();
    } else this.#stream.destroy();
    this.#events.onClosed(reason);
  }
}

function openStream(url: URL, onOpen: () => void): Duplex {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = Number(url.port) || DEFAULT_PORTS[url.protocol];
  switch (url.protocol) {
    case 'mqtt:':
      return connect({ host, port: port as number, noDelay: true }, onOpen);
    case 'mqtts:':
      return connectTls({ host, port: port as number, ...(isIP(host) === 0 ? { servername: host } : {}) }, onOpen);
    default: {
      const plain = new URL(url);
      plain.username = '';
      plain.password = '';
      const socket = new WebSocket(plain, 'mqtt', {
        handshakeTimeout: CONNECT_TIMEOUT_MS,
        maxPayload: MAX_MESSAGE_BYTES,
      });
      socket.once('open', onOpen);
      return createWebSocketStream(socket);
    }
  }
}

/** Error codes of Node and OpenSSL for refused certificates. */
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|INVALID_CA|HOSTNAME_MISMATCH/;

/** The reason of an error without addresses, which are a separate field of the log line. */
function reasonOf({ code, message, syscall }: NodeJS.ErrnoException): string {
  if (code === undefined) return message;
  if (CERTIFICATE.test(code)) return `the certificate of the broker is refused: ${message} (${code})`;
  return syscall === undefined ? `${code}: ${message}` : `${code} (${syscall})`;
}
