import { connect } from 'node:net';
import type { Position, TerminalId } from '@outrider/domain';
import { blankPosition } from '@outrider/domain';
import { encodeOsmandQuery, tcpProtocols } from '@outrider/protocols';
import { WebSocket } from 'ws';
import type { Service } from '../../bench/road/service.ts';

/** Honest clients are answered within this; generous, as the machine may have much else to do. */
export const ANSWERED_WITHIN_MS = 20_000;

const TERMINALS = tcpProtocols.map(({ name, exampleId, simulators }, index) => ({
  port: name,
  id: exampleId(9001 + index),
  create: simulators[0],
}));
const PHONE = 'good-phone';
/** The terminals of honest clients. */
export const GOOD_TERMINALS: readonly string[] = [...TERMINALS.map(({ id }) => id), PHONE];

/** Honest clients of every port: they are to notice nothing of what goes on beside them. */
export class GoodClients {
  /** What was acknowledged: `terminal fixTimeMs`. */
  readonly acknowledged: string[] = [];
  readonly #service: Service;
  readonly #jwt: string;
  readonly #vehicleIds: readonly string[];
  #live: WebSocket | null = null;
  #fixTimeMs = 0;
  readonly #awaited = new Map<string, () => void>();

  /** @param vehicleIds of {@link GOOD_TERMINALS}, in their order */
  constructor(service: Service, jwt: string, vehicleIds: readonly string[]) {
    this.#service = service;
    this.#jwt = jwt;
    this.#vehicleIds = vehicleIds;
  }

  async open(): Promise<void> {
    const { host, ports } = this.#service;
    const socket = new WebSocket(`ws://${host}:${ports.http}/live`, { headers: { Authorization: `JWT ${this.#jwt}` } });
    this.#live = socket;
    socket.on('error', () => {});
    socket.on('message', (data) => {
      const message = JSON.parse(data.toString()) as { type: string; vehicleId: string; fixTime: string };
      if (message.type !== 'position') return;
      const key = `${message.vehicleId} ${Date.parse(message.fixTime)}`;
      this.#awaited.get(key)?.();
      this.#awaited.delete(key);
    });
    await within('the live API', new Promise((resolve) => socket.once('open', resolve)));
    socket.send(JSON.stringify({ type: 'subscribe', vehicles: this.#vehicleIds, events: false, notifications: false }));
  }

  close(): void {
    this.#live?.terminate();
  }

  /** Everything that an honest client does, once. @throws {Error} naming what was not answered as it should */
  async check(): Promise<void> {
    // Whole seconds, as not every protocol has finer ones; each later than the last.
    this.#fixTimeMs = Math.max(this.#fixTimeMs + 1000, Math.floor(Date.now() / 1000) * 1000);
    await Promise.all([...TERMINALS.map((_, index) => this.#terminal(index)), this.#phone(), this.#rest()]);
  }

  #position(index: number): { position: Position; live: Promise<void> } {
    // To and fro at some metres a second, whenever it is asked: what leaps is taken for a jump, and moves nothing.
    const position = blankPosition(this.#fixTimeMs, 55 + index, 27 + Math.sin(this.#fixTimeMs / 100_000) / 100);
    position.speedKmh = 40;
    position.satellites = 9;
    const live = new Promise<void>((resolve) => {
      this.#awaited.set(`${this.#vehicleIds[index]} ${this.#fixTimeMs}`, resolve);
    });
    return { position, live };
  }

  async #terminal(index: number): Promise<void> {
    const terminal = TERMINALS[index];
    if (!terminal) return;
    const { port, id, create } = terminal;
    const { position, live } = this.#position(index);
    const simulator = create(id as TerminalId);
    const socket = connect({ host: this.#service.host, port: this.#service.ports[port], noDelay: true });
    try {
      await within(
        `a good terminal at port ${port}`,
        new Promise<void>((resolve, reject) => {
          socket.on('error', reject);
          socket.on('close', () => reject(new Error('the connection was ended')));
          socket.on('connect', () => {
            const hello = simulator.hello();
            // Protocols without a login begin with data.
            socket.write(hello ?? simulator.encode([position]));
          });
          // What a terminal without acknowledgements sent is seen by its live position alone.
          if (simulator.isUnacknowledged) socket.on('connect', resolve);
          socket.on('data', (chunk: Buffer) => {
            for (const reply of simulator.receive(chunk))
              if (reply.type === 'welcome') socket.write(simulator.encode([position]));
              else if (reply.type === 'ack') resolve();
              else if (reply.type === 'refused') reject(new Error(reply.detail));
          });
        }),
      );
      if (!simulator.isUnacknowledged) this.acknowledged.push(`${id} ${position.fixTimeMs}`);
      await within(`the live position of a good terminal at port ${port}`, live);
    } finally {
      socket.destroy();
    }
  }

  async #phone(): Promise<void> {
    const { position, live } = this.#position(TERMINALS.length);
    const url = `http://${this.#service.host}:${this.#service.ports.osmand}${encodeOsmandQuery(PHONE as TerminalId, position)}`;
    const answer = await within('a good phone', fetch(url));
    if (answer.status !== 200) throw new Error(`a good phone was answered ${answer.status}`);
    this.acknowledged.push(`${PHONE} ${position.fixTimeMs}`);
    await within('the live position of a good phone', live);
  }

  /** Reads positions from the archive, which starts the archive's process. @throws {Error} where it isn't answered */
  async readArchive(): Promise<void> {
    const at = encodeURIComponent(new Date().toISOString());
    const answer = await this.#get(`/api/v1/reports/positions-at?vehicleId=${this.#vehicleIds[0]}&at=${at}`);
    if (answer.status !== 200) throw new Error(`a good report was answered ${answer.status}: ${await answer.text()}`);
    await answer.arrayBuffer();
  }

  async #get(path: string): Promise<Response> {
    const headers = { Authorization: `JWT ${this.#jwt}` };
    return within(`GET ${path}`, fetch(`http://${this.#service.host}:${this.#service.ports.http}${path}`, { headers }));
  }

  async #rest(): Promise<void> {
    if (this.#live?.readyState !== WebSocket.OPEN) throw new Error('the live connection of a good client was ended');
    const vehicle = await this.#get(`/api/v1/vehicles/${this.#vehicleIds[0]}`);
    const { terminalId } = (await vehicle.json()) as { terminalId?: string };
    if (vehicle.status !== 200 || terminalId !== GOOD_TERMINALS[0])
      throw new Error(`a good vehicle was answered ${vehicle.status}, with terminal ${terminalId}`);
    const ready = await this.#get('/health/ready');
    const { parts } = (await ready.json()) as { parts: Record<string, { status: string }> };
    if (ready.status === 200) return;
    const failed = Object.entries(parts).filter(([, { status }]) => status !== 'ok');
    throw new Error(`the service is not ready: ${JSON.stringify(Object.fromEntries(failed)).slice(0, 1000)}`);
  }
}

async function within<T>(what: string, promised: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`${what}: nothing within ${ANSWERED_WITHIN_MS / 1000} s`)),
      ANSWERED_WITHIN_MS,
    );
  });
  try {
    return await Promise.race([promised, late]);
  } catch (error) {
    throw new Error(`${what}: ${(error as Error).message}`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}
