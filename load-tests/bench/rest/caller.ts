import { connect, type Socket } from 'node:net';
import { percentile } from '../measure.ts';
import { awaitTask } from '../road/child.ts';
import { readAnswer } from './answer.ts';

/** Calls servers in turns, each over connections that stay open, the next request when the answer is there. */
export interface CallerTask {
  host: string;
  /** Of each server, by its name. */
  ports: Readonly<Record<string, number>>;
  connections: number;
  /** Asked one after the other, over and over. */
  paths: readonly string[];
  authorization: string;
  turns: number;
  turnMs: number;
  warmUpMs: number;
}

/** What came of a server's turns. */
export interface Called {
  /** Of each turn. */
  requestsPerSecond: number[];
  /** From a request that goes into a socket to the last byte of its answer, ms, over all turns. */
  p50Ms: number;
  p99Ms: number;
}

export type CallerMessage = { type: 'called'; servers: Record<string, Called> };

const { task, send } = await awaitTask<CallerTask, CallerMessage>();

const requests = task.paths.map((path) =>
  Buffer.from(`GET ${path} HTTP/1.1\r\nHost: ${task.host}\r\nAuthorization: ${task.authorization}\r\n\r\n`),
);

/** One server's connections, all of them idle between its turns. */
class Callers {
  readonly #sockets: Socket[];
  readonly #asks: (() => void)[] = [];
  /** Milliseconds of each answer, as they came. */
  readonly latenciesMs: number[] = [];
  #next = 0;
  #busy = 0;
  #untilMs = 0;
  #idle: PromiseWithResolvers<void> = Promise.withResolvers();

  constructor(sockets: Socket[]) {
    this.#sockets = sockets;
    for (const socket of sockets) this.#serve(socket);
  }

  /** @returns how many answers came, and in how long */
  async turn(forMs: number): Promise<{ answers: number; seconds: number }> {
    this.#idle = Promise.withResolvers();
    const before = this.latenciesMs.length;
    const startMs = performance.now();
    this.#untilMs = startMs + forMs;
    this.#busy = this.#asks.length;
    for (const ask of this.#asks) ask();
    await this.#idle.promise;
    return { answers: this.latenciesMs.length - before, seconds: (performance.now() - startMs) / 1000 };
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #serve(socket: Socket): void {
    let had: Buffer = Buffer.alloc(0);
    let askedMs = 0;
    const ask = (): void => {
      askedMs = performance.now();
      socket.write(requests[this.#next++ % requests.length] as Buffer);
    };
    this.#asks.push(ask);
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => {
      had = had.length === 0 ? chunk : Buffer.concat([had, chunk]);
      const answer = readAnswer(had);
      if (answer === null || had.length < answer.bytes) return;
      if (answer.status !== 200) throw new Error(`it answered ${had.toString('latin1')}`);
      if (had.length > answer.bytes) throw new Error('it answered what was not asked');
      had = Buffer.alloc(0);
      const nowMs = performance.now();
      this.latenciesMs.push(nowMs - askedMs);
      if (nowMs < this.#untilMs) ask();
      else {
        this.#busy -= 1;
        if (this.#busy === 0) this.#idle.resolve();
      }
    });
    socket.on('close', () => {
      if (this.#busy > 0) throw new Error('a connection was closed');
    });
  }
}

function connected(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, task.host, () => resolve(socket));
    socket.once('error', reject);
  });
}

const servers = new Map<string, Callers>();
for (const [name, port] of Object.entries(task.ports))
  servers.set(name, new Callers(await Promise.all(Array.from({ length: task.connections }, () => connected(port)))));
for (const callers of servers.values()) {
  await callers.turn(task.warmUpMs);
  callers.latenciesMs.length = 0;
}
const rates = new Map([...servers.keys()].map((name) => [name, [] as number[]]));
for (let turn = 0; turn < task.turns; turn += 1)
  for (const [name, callers] of servers) {
    const { answers, seconds } = await callers.turn(task.turnMs);
    rates.get(name)?.push(answers / seconds);
  }
for (const callers of servers.values()) callers.close();
send({
  type: 'called',
  servers: Object.fromEntries(
    [...servers].map(([name, { latenciesMs }]) => [
      name,
      {
        requestsPerSecond: rates.get(name) ?? [],
        p50Ms: percentile(latenciesMs, 0.5),
        p99Ms: percentile(latenciesMs, 0.99),
      },
    ]),
  ),
});
