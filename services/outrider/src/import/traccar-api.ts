import { SYSTEM_CLOCK } from '@outrider/domain';
import { StartError } from '@outrider/runtime';
import type {
  LinkedList,
  SourceDevice,
  SourceGroup,
  SourceLinks,
  SourceList,
  SourcePage,
  SourcePosition,
  TraccarSource,
} from './traccar-source.ts';

const RETRIES = 3;
const RETRY_MS = 2000;
const TIMEOUT_MS = 120_000;
/** Time range of one query for positions. */
const WINDOW_MS = 86_400_000;

export interface TraccarAccess {
  url: string;
  token: string | undefined;
  user: string | undefined;
  password: string | undefined;
}

/** A running Traccar, read over its REST API. */
export class TraccarApi implements TraccarSource {
  readonly name: string;
  readonly #base: string;
  readonly #authorization: string;

  /** @throws {StartError} when the address or the credentials are missing */
  constructor({ url, token, user, password }: TraccarAccess) {
    if (!URL.canParse(url)) throw new StartError(`--url must be the address of Traccar, not ${JSON.stringify(url)}`);
    this.name = new URL(url).host;
    this.#base = `${url.replace(/\/+$/, '').replace(/\/api$/, '')}/api`;
    if (token !== undefined) this.#authorization = `Bearer ${token}`;
    else if (user !== undefined && password !== undefined)
      this.#authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
    else throw new StartError('give a token of Traccar (--token or TRACCAR_TOKEN), or --user with TRACCAR_PASSWORD');
  }

  /** A list: of all items for an administrator, of the account's own items otherwise. */
  async list<T>(name: SourceList): Promise<T[]> {
    const answer = await this.#get(`${name}?all=true`);
    return this.#listOf(answer.ok ? answer : await this.#get(name), name);
  }

  async grants(userId: number): Promise<SourceLinks> {
    const groups = await this.#read<SourceGroup>(`groups?userId=${userId}`);
    const devices = await this.#read<SourceDevice>(`devices?userId=${userId}`);
    return { groupIds: groups.map(({ id }) => id), deviceIds: devices.map(({ id }) => id) };
  }

  async links(name: LinkedList, to: SourceLinks): Promise<Map<number, SourceLinks>> {
    const links = new Map<number, SourceLinks>();
    for (const [kind, ids, parameter] of [
      ['deviceIds', to.deviceIds, 'deviceId'],
      ['groupIds', to.groupIds, 'groupId'],
    ] as const)
      for (const of of ids)
        for (const { id } of await this.#read<{ id: number }>(`${name}?${parameter}=${of}`)) {
          const known = links.get(id) ?? { deviceIds: [], groupIds: [] };
          known[kind].push(of);
          links.set(id, known);
        }
    return links;
  }

  async *positions(deviceId: number, fromMs: number): AsyncGenerator<SourcePage> {
    for (let startMs = fromMs; startMs < SYSTEM_CLOCK.now(); startMs += WINDOW_MS) {
      const reachedMs = Math.min(startMs + WINDOW_MS, SYSTEM_CLOCK.now());
      const [from, to] = [startMs, startMs + WINDOW_MS].map((timeMs) => new Date(timeMs).toISOString());
      const positions = await this.#read<SourcePosition>(`positions?deviceId=${deviceId}&from=${from}&to=${to}`);
      yield { positions, reachedMs };
    }
  }

  async close(): Promise<void> {}

  /** @throws {StartError} when the request is refused, or the response is not a list */
  async #read<T>(path: string): Promise<T[]> {
    return this.#listOf(await this.#get(path), path);
  }

  async #listOf<T>(answer: Response, path: string): Promise<T[]> {
    if (!answer.ok) throw new StartError(`Traccar answered ${answer.status} for ${path}`);
    const read: unknown = await answer.json().catch(() => null);
    if (!Array.isArray(read)) throw new StartError(`Traccar's answer for ${path} is no list`);
    return read as T[];
  }

  async #get(path: string): Promise<Response> {
    for (let nth = 1; ; nth++) {
      try {
        const answer = await fetch(`${this.#base}/${path}`, {
          headers: { authorization: this.#authorization, accept: 'application/json' },
          signal: AbortSignal.timeout(TIMEOUT_MS),
        });
        if (answer.status < 500 || nth === RETRIES) return answer;
        await answer.body?.cancel();
      } catch (error) {
        if (nth === RETRIES) throw new StartError(`Traccar was not reached: ${(error as Error).message}`);
      }
      await SYSTEM_CLOCK.sleep(RETRY_MS);
    }
  }
}
