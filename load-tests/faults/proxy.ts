import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** Which way bytes go: a connection has both. */
export type Direction = 'to-server' | 'to-client';

/**
 * What becomes of the bytes of a direction that is silent. `late`: they are kept, and come when the fault is over, as
 * after a network that was away for a while. `never`: they are lost, and so are all that follow on that connection, its
 * end as well: a connection that only one side still knows of.
 */
export type Silence = 'late' | 'never';

/** A way to a server that passes everything on, and can be made to do it badly. */
export interface TcpProxy {
  readonly port: number;
  /** Connections that are open on the client's side. */
  readonly connections: number;
  /** Ends every connection in the middle of what it carries next; one that carries nothing ends soon. */
  cut(): void;
  /** From now on everything comes so much later, in both directions. */
  delay(ms: number): void;
  /** One direction of every connection goes silent, and of those that are made until {@link heal}. */
  halve(silent: Direction, silence: Silence): void;
  /** New connections are good again, and what was late comes. Those that were lost stay so. */
  heal(): void;
  close(): Promise<void>;
}

/** Beyond this number of bytes in transit, the proxy stops reading from the sender. */
const MAX_HELD_BYTES = 1024 * 1024;
/** A connection that is to be cut and carries nothing is cut after this. */
const CUT_WITHIN_MS = 250;

/** Opens a way to a port of this machine. `port` 0 takes any free one. */
export async function openProxy(targetPort: number, port = 0): Promise<TcpProxy> {
  const weather: Weather = { delayMs: 0, silent: null };
  const links = new Set<Link>();
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const link = new Link(client, connect({ port: targetPort, host: '127.0.0.1', allowHalfOpen: true }), weather);
    links.add(link);
    link.onGone = () => links.delete(link);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: portOf(server),
    get connections() {
      return links.size;
    },
    cut() {
      for (const link of links) link.cut();
    },
    delay(ms) {
      weather.delayMs = ms;
    },
    halve(direction, silence) {
      weather.silent = { direction, silence };
      for (const link of links) link.silence(direction, silence);
    },
    heal() {
      weather.delayMs = 0;
      weather.silent = null;
      for (const link of links) link.heal();
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const link of links) link.destroy();
      await closed;
    },
  };
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a proxy that listens nowhere');
  return address.port;
}

/** How it is for connections that are made now. */
interface Weather {
  delayMs: number;
  silent: { direction: Direction; silence: Silence } | null;
}

/** A connection of a client and the one that was made for it. */
class Link {
  onGone: () => void = () => {};
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #ways: Record<Direction, Way>;

  constructor(client: Socket, server: Socket, weather: Weather) {
    this.#client = client;
    this.#server = server;
    client.setNoDelay();
    server.setNoDelay();
    this.#ways = {
      'to-server': new Way(client, server, weather, () => this.destroy()),
      'to-client': new Way(server, client, weather, () => this.destroy()),
    };
    if (weather.silent) this.silence(weather.silent.direction, weather.silent.silence);
    for (const [from, way] of [
      [client, this.#ways['to-server']],
      [server, this.#ways['to-client']],
    ] as const) {
      // Event `close` follows every error.
      from.on('error', () => {});
      from.on('close', () => {
        way.fromClosed();
        if (client.destroyed && server.destroyed) this.onGone();
      });
    }
  }

  silence(direction: Direction, silence: Silence): void {
    this.#ways[direction].silence(silence);
  }

  heal(): void {
    for (const way of Object.values(this.#ways)) way.heal();
  }

  cut(): void {
    for (const way of Object.values(this.#ways)) way.cutNext();
    setTimeout(() => this.destroy(), CUT_WITHIN_MS).unref();
  }

  destroy(): void {
    this.#client.destroy();
    this.#server.destroy();
  }
}

/** One direction of a connection: what comes in at one socket goes out at the other, in its order. */
class Way {
  readonly #from: Socket;
  readonly #to: Socket;
  readonly #weather: Weather;
  readonly #onCut: () => void;
  /** What is on its way: bytes, or `null` for the end of them. */
  #held: { bytes: Buffer | null; dueMs: number }[] = [];
  #heldBytes = 0;
  #silence: Silence | null = null;
  #cutting = false;
  #fromClosed = false;
  #timer: NodeJS.Timeout | null = null;

  constructor(from: Socket, to: Socket, weather: Weather, onCut: () => void) {
    this.#from = from;
    this.#to = to;
    this.#weather = weather;
    this.#onCut = onCut;
    from.on('data', (bytes: Buffer) => this.#take(bytes));
    from.on('end', () => this.#take(null));
    to.on('drain', () => this.#pump());
  }

  silence(silence: Silence): void {
    // What is lost stays lost.
    if (this.#silence !== 'never') this.#silence = silence;
    if (this.#silence === 'never') this.#forget();
  }

  heal(): void {
    if (this.#silence === 'late') this.#silence = null;
    for (const each of this.#held) each.dueMs = 0;
    this.#pump();
  }

  cutNext(): void {
    this.#cutting = true;
  }

  /**
   * The socket that is read was closed. The other one is closed once it has received everything in transit, unless the
   * fault hides the close from it.
   */
  fromClosed(): void {
    this.#fromClosed = true;
    this.#pump();
  }

  #take(bytes: Buffer | null): void {
    if (this.#silence === 'never') return;
    if (this.#cutting && bytes !== null) {
      this.#to.write(bytes.subarray(0, bytes.length >> 1), () => this.#onCut());
      this.#silence = 'never';
      return;
    }
    const { delayMs } = this.#weather;
    this.#held.push({ bytes, dueMs: delayMs === 0 ? 0 : performance.now() + delayMs });
    this.#heldBytes += bytes?.length ?? 0;
    if (this.#heldBytes > MAX_HELD_BYTES) this.#from.pause();
    this.#pump();
  }

  #pump(): void {
    if (this.#silence !== null || this.#to.destroyed) return;
    while (this.#held[0] !== undefined && !this.#to.writableNeedDrain) {
      const [{ bytes, dueMs }] = this.#held;
      const waitMs = dueMs - performance.now();
      if (waitMs > 0) return this.#pumpIn(waitMs);
      this.#held.shift();
      if (bytes === null) this.#to.end();
      else {
        this.#heldBytes -= bytes.length;
        this.#to.write(bytes);
      }
      if (this.#from.isPaused() && this.#heldBytes < MAX_HELD_BYTES) this.#from.resume();
    }
    if (this.#fromClosed && this.#held.length === 0) this.#to.destroySoon();
  }

  #pumpIn(ms: number): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#pump(), ms);
  }

  #forget(): void {
    this.#held = [];
    this.#heldBytes = 0;
    // The proxy still reads, so the sender notices nothing.
    this.#from.resume();
  }
}
