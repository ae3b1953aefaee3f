import type { Socket } from 'node:net';
import type { ConnectGuarded } from '@outrider/channels';
import { SYSTEM_CLOCK, type Timer } from '@outrider/domain';
import { isWrongMqttVersion, MQTT_FIRST_FAILURE, mqttReason } from '@outrider/protocols';
import { generate, type Packet, parser } from 'mqtt-packet';
import { CONNECT_TIMEOUT_MS, ForwardingError, within } from './destination-kind.ts';
import type { HostSettings } from './host-settings.ts';

export interface MqttLogin {
  clientId: string;
  username: string | null;
  password: string | null;
}

const KEEP_ALIVE_SECONDS = 30;
/** Maximum number of unacknowledged messages. */
const MAX_OUTSTANDING = 100;
const MAX_PACKET_BYTES = 64 * 1024;

interface Waiting {
  resolve(): void;
  reject(error: Error): void;
}

/** A connection to a broker that publishes messages (QoS 1), by MQTT 5, or by 3.1.1 if the broker has no other. */
export class MqttPublisher {
  readonly #socket: Socket;
  readonly #version: 4 | 5;
  /** Unacknowledged messages, by packet id. */
  readonly #waiting = new Map<number, Waiting>();
  readonly #blocked: (() => void)[] = [];
  readonly #keepAlive: Timer;
  #maxOutstanding = MAX_OUTSTANDING;
  #lastId = 0;
  #failure: ForwardingError | null = null;
  #lastReceivedMs = SYSTEM_CLOCK.steadyMs();
  #onConnected: ((code: number) => void) | null = null;

  private constructor(socket: Socket, version: 4 | 5) {
    this.#socket = socket;
    this.#version = version;
    const packets = parser({ protocolVersion: version });
    packets.on('packet', (packet) => this.#onPacket(packet));
    packets.on('error', (error: Error) => this.#fail(`The broker does not speak MQTT: ${error.message}.`));
    socket.on('data', (chunk: Buffer) => {
      this.#lastReceivedMs = SYSTEM_CLOCK.steadyMs();
      if (this.#failure === null && packets.parse(chunk) > MAX_PACKET_BYTES)
        this.#fail('The broker sent a packet that is too long.');
    });
    socket.on('error', (error: NodeJS.ErrnoException) =>
      this.#fail(`The connection to the broker failed (${error.code ?? error.message}).`),
    );
    socket.on('close', () => this.#fail('The broker closed the connection.'));
    this.#keepAlive = SYSTEM_CLOCK.every((KEEP_ALIVE_SECONDS * 1000) / 2, () => this.#ping());
    this.#keepAlive.unref();
  }

  /** @throws {ForwardingError} */
  static async connect(connect: ConnectGuarded, to: HostSettings, login: MqttLogin): Promise<MqttPublisher> {
    const open = async (version: 4 | 5): Promise<MqttPublisher | null> => {
      const publisher = new MqttPublisher(connect(to), version);
      try {
        const code = await within(CONNECT_TIMEOUT_MS, publisher.#greet(login), 'The broker did not answer');
        if (code === 0) return publisher;
        publisher.close();
        if (isWrongMqttVersion(code)) return null;
        throw new ForwardingError(`The broker refused the connection: ${mqttReason(code)}.`);
      } catch (error) {
        publisher.close();
        throw error;
      }
    };
    const publisher = (await open(5)) ?? (await open(4));
    if (publisher === null) throw new ForwardingError('The broker speaks neither MQTT 5 nor MQTT 3.1.1.');
    return publisher;
  }

  /**
   * Resolves when the broker has acknowledged the message. Messages are sent in the order of these calls.
   *
   * @throws {ForwardingError}
   */
  async publish(topic: string, payload: string, retain: boolean): Promise<void> {
    while (this.#failure === null && this.#waiting.size >= this.#maxOutstanding)
      await new Promise<void>((resolve) => this.#blocked.push(resolve));
    if (this.#failure !== null) throw this.#failure;
    const messageId = this.#nextId();
    const acknowledged = new Promise<void>((resolve, reject) => this.#waiting.set(messageId, { resolve, reject }));
    this.#send({ cmd: 'publish', topic, payload, qos: 1, retain, dup: false, messageId });
    await acknowledged;
  }

  close(): void {
    if (this.#failure === null) this.#send({ cmd: 'disconnect' });
    this.#fail('The connection was closed.');
  }

  #greet({ clientId, username, password }: MqttLogin): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#onConnected = resolve;
      this.#waiting.set(0, { resolve: () => {}, reject });
      this.#send({
        cmd: 'connect',
        protocolId: 'MQTT',
        protocolVersion: this.#version,
        clientId,
        clean: true,
        keepalive: KEEP_ALIVE_SECONDS,
        ...(username === null ? {} : { username }),
        ...(password === null ? {} : { password: Buffer.from(password) }),
      });
    });
  }

  #onPacket(packet: Packet): void {
    if (packet.cmd === 'connack') {
      this.#waiting.delete(0);
      const { receiveMaximum } = packet.properties ?? {};
      if (receiveMaximum !== undefined) this.#maxOutstanding = Math.min(MAX_OUTSTANDING, receiveMaximum);
      this.#onConnected?.(packet.reasonCode ?? packet.returnCode ?? 0);
    } else if (packet.cmd === 'puback') {
      const id = packet.messageId ?? 0;
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      const code = packet.reasonCode ?? 0;
      if (code >= MQTT_FIRST_FAILURE) this.#fail(`The broker refused a message: ${mqttReason(code)}.`);
      if (this.#failure === null) waiting?.resolve();
      else waiting?.reject(this.#failure);
      if (waiting) this.#blocked.shift()?.();
    } else if (packet.cmd === 'disconnect')
      this.#fail(`The broker disconnected: ${mqttReason(packet.reasonCode ?? 0)}.`);
  }

  #nextId(): number {
    do this.#lastId = (this.#lastId % 0xffff) + 1;
    while (this.#waiting.has(this.#lastId));
    return this.#lastId;
  }

  #ping(): void {
    const silentMs = SYSTEM_CLOCK.steadyMs() - this.#lastReceivedMs;
    if (silentMs > KEEP_ALIVE_SECONDS * 1500) this.#fail('The broker is silent.');
    else this.#send({ cmd: 'pingreq' });
  }

  #send(packet: Packet): void {
    if (this.#failure === null) this.#socket.write(generate(packet, { protocolVersion: this.#version }));
  }

  #fail(reason: string): void {
    if (this.#failure !== null) return;
    this.#failure = new ForwardingError(reason);
    this.#keepAlive.cancel();
    for (const { reject } of this.#waiting.values()) reject(this.#failure);
    this.#waiting.clear();
    for (const resolve of this.#blocked.splice(0)) resolve();
    this.#socket.end();
    SYSTEM_CLOCK.after(1000, () => this.#socket.destroy()).unref();
  }
}
