import { type Clock, SYSTEM_CLOCK } from '@outrider/domain';

/** Geocoding servers whose responses are supported. */
export const SERVER_FORMATS = ['nominatim', 'photon', 'pelias'] as const;
export type ServerFormat = (typeof SERVER_FORMATS)[number];

/** The request of a format, and where its response contains the address. */
interface Dialect {
  path: string;
  parameters(latitude: string, longitude: string): Record<string, string>;
  /** @returns null if the response contains no address */
  addressIn(answer: unknown): string | null;
}

const LONGEST_ADDRESS = 200;
/** Maximum size of a response. */
const MAX_ANSWER_BYTES = 64 * 1024;
/** Maximum number of cached addresses, about 4 MB. The least recently used is evicted first. */
const KEPT = 20_000;
/** About 11 m: points this close to each other share an address. */
const DECIMALS = 4;
/** Number of consecutive failures after which the server is not queried for a while. */
const FAILURES_IN_A_ROW = 3;
const PAUSE_MS = 30_000;

const DIALECTS: Record<ServerFormat, Dialect> = {
  nominatim: {
    path: 'reverse',
    parameters: (lat, lon) => ({ format: 'jsonv2', lat, lon }),
    addressIn: (answer) => textOf(fieldOf(answer, 'display_name')),
  },
  photon: {
    path: 'reverse',
    parameters: (lat, lon) => ({ lat, lon }),
    addressIn: (answer) => {
      const found = propertiesOfFirst(answer);
      const street = [fieldOf(found, 'street'), fieldOf(found, 'housenumber')].map(textOf).filter(Boolean).join(' ');
      const name = textOf(fieldOf(found, 'name'));
      const parts = [
        name === street ? null : name,
        street,
        ...['city', 'country'].map((key) => textOf(fieldOf(found, key))),
      ];
      return textOf([...new Set(parts.filter(Boolean))].join(', '));
    },
  },
  pelias: {
    path: 'v1/reverse',
    parameters: (lat, lon) => ({ 'point.lat': lat, 'point.lon': lon, size: '1' }),
    addressIn: (answer) => textOf(fieldOf(propertiesOfFirst(answer), 'label')),
  },
};

export interface AddressServerOptions {
  /** URL of the server, such as `https://geocoder.example/`. Its path is kept, and its query, for keys. */
  url: string;
  format: ServerFormat;
  /** Maximum calls per second, over all callers. */
  perSecond: number;
  timeoutMs: number;
  /** Called once with the reason when the server fails, and once with null when it has recovered. */
  onState?: (failure: string | null) => void;
  fetch?: typeof fetch;
  clock?: Clock;
}

/** A server that returns the address of a point. */
export interface AddressServer {
  /** The cached address of the point; undefined: not cached, null: the point has no address. */
  kept(latitude: number, longitude: number): string | null | undefined;
  /**
   * Queries the server, within its rate limit.
   *
   * @returns undefined if it does not answer, is paused, or the call could not begin within `withinMs`
   */
  ask(latitude: number, longitude: number, withinMs: number): Promise<string | null | undefined>;
}

/** Opens a client for a server with the API of Nominatim, Photon or Pelias. The client never throws. */
export function openAddressServer(options: AddressServerOptions): AddressServer {
  return new HttpAddressServer(options);
}

class HttpAddressServer implements AddressServer {
  readonly #options: AddressServerOptions;
  readonly #clock: Clock;
  readonly #addresses = new Map<string, string | null>();
  readonly #asked = new Map<string, Promise<string | null | undefined>>();
  /** Earliest time of the next call. */
  #nextAtMs = 0;
  #failures = 0;
  #pausedUntilMs = 0;

  constructor(options: AddressServerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? SYSTEM_CLOCK;
  }

  kept(latitude: number, longitude: number): string | null | undefined {
    const key = keyOf(latitude, longitude);
    const address = this.#addresses.get(key);
    if (address === undefined) return undefined;
    this.#addresses.delete(key);
    this.#addresses.set(key, address);
    return address;
  }

  ask(latitude: number, longitude: number, withinMs: number): Promise<string | null | undefined> {
    const key = keyOf(latitude, longitude);
    const asked = this.#asked.get(key);
    if (asked !== undefined) return asked;
    const nowMs = this.#clock.steadyMs();
    const startsAtMs = Math.max(nowMs, this.#nextAtMs);
    if (nowMs < this.#pausedUntilMs || startsAtMs - nowMs > withinMs) return Promise.resolve(undefined);
    this.#nextAtMs = startsAtMs + 1000 / this.#options.perSecond;
    const answer = this.#askAfter(startsAtMs - nowMs, key).finally(() => this.#asked.delete(key));
    this.#asked.set(key, answer);
    return answer;
  }

  async #askAfter(delayMs: number, key: string): Promise<string | null | undefined> {
    if (delayMs > 0) await this.#clock.sleep(delayMs);
    try {
      const address = await this.#fetch(key);
      if (this.#failures >= FAILURES_IN_A_ROW) this.#options.onState?.(null);
      this.#failures = 0;
      this.#addresses.set(key, address);
      if (this.#addresses.size > KEPT) this.#addresses.delete(this.#addresses.keys().next().value as string);
      return address;
    } catch (error) {
      this.#failures += 1;
      if (this.#failures >= FAILURES_IN_A_ROW) this.#pausedUntilMs = this.#clock.steadyMs() + PAUSE_MS;
      if (this.#failures === FAILURES_IN_A_ROW) this.#options.onState?.((error as Error).message);
      return undefined;
    }
  }

  async #fetch(key: string): Promise<string | null> {
    const { url, format, timeoutMs } = this.#options;
    const dialect = DIALECTS[format];
    const [latitude = '', longitude = ''] = key.split(',');
    const address = new URL(url);
    address.pathname = `${address.pathname.replace(/\/$/, '')}/${dialect.path}`;
    for (const [name, value] of Object.entries(dialect.parameters(latitude, longitude)))
      address.searchParams.set(name, value);
    const response = await (this.#options.fetch ?? fetch)(address, {
      // Public servers require a user agent.
      headers: { accept: 'application/json', 'user-agent': 'Outrider' },
      signal: AbortSignal.timeout(timeoutMs),
      redirect: 'error',
    });
    // Nominatim and similar servers answer with 404 if nothing is there, as at sea.
    if (response.status === 404) return null;
    if (!response.ok) throw new Error(`the address server answered ${response.status}`);
    return dialect.addressIn(JSON.parse(await boundedText(response)));
  }
}

function keyOf(latitude: number, longitude: number): string {
  return `${latitude.toFixed(DECIMALS)},${longitude.toFixed(DECIMALS)}`;
}

/** @throws {Error} when the response exceeds the maximum size */
async function boundedText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`the address server answered more than ${MAX_ANSWER_BYTES} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text;
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function propertiesOfFirst(answer: unknown): unknown {
  const features = fieldOf(answer, 'features');
  return Array.isArray(features) ? fieldOf(features[0], 'properties') : undefined;
}

/** Sanitises a line of text from a foreign server: no control characters, and limited in length. */
function textOf(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const line = value
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, LONGEST_ADDRESS);
  return line === '' ? null : line;
}
