import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { SourcePosition } from './traccar-source.ts';

export const TOKEN = 'a-token-of-traccar';

/** What of a Traccar the import reads, with a fleet of two. */
export class FakeTraccar {
  readonly #server: Server;
  /** Of device 1. */
  positions: readonly SourcePosition[] = [];
  /** The first time of each call for positions of device 1, in Unix milliseconds. */
  readonly asked: number[] = [];
  /** From this time on, calls for positions fail. */
  brokenFromMs = Number.POSITIVE_INFINITY;
  /** Answered in place of lists: what they hold, by their names. */
  readonly lists: Record<string, unknown> = {
    groups: [
      { id: 10, name: 'Region' },
      { id: 11, name: 'Town', groupId: 10 },
    ],
    devices: [
      { id: 1, name: 'Van', uniqueId: '356307042441013', groupId: 11 },
      { id: 2, name: 'Trailer', uniqueId: '356307042441021', groupId: 0 },
      { id: 3, name: 'Odd', uniqueId: 'no terminal / has this', groupId: 0 },
    ],
    users: [
      { id: 20, name: 'Admin', email: 'admin@example.com', administrator: true },
      { id: 21, name: 'Anna Berg', email: 'anna@example.com' },
      { id: 22, name: 'Gone', email: 'gone@example.com', disabled: true },
    ],
    'groups?userId=21': [{ id: 10, name: 'Region' }],
    'devices?userId=21': [
      { id: 1, name: 'Van', uniqueId: '356307042441013', groupId: 11 },
      { id: 2, name: 'Trailer', uniqueId: '356307042441021', groupId: 0 },
    ],
    geofences: [
      { id: 30, name: 'Depot', area: 'CIRCLE (59.9386 30.3141, 300)', attributes: { speedLimit: 10.8 } },
      { id: 31, name: 'Yard', area: 'POLYGON ((59.9 30.3, 59.91 30.3, 59.91 30.31, 59.9 30.3))' },
      { id: 32, name: 'Street', area: 'LINESTRING (59.9 30.3, 59.95 30.3)', attributes: { polylineDistance: 20 } },
      { id: 33, name: 'Nowhere', area: 'POINT (1 2)' },
    ],
    drivers: [{ id: 40, name: 'Ben Cole', uniqueId: '0100000F28F9A1' }],
    notifications: [
      { id: 50, type: 'geofenceEnter', always: true },
      { id: 51, type: 'ignitionOn', always: false },
      { id: 52, type: 'textMessage', always: true },
      { id: 53, type: 'geofenceEnter', always: true },
    ],
    'notifications?groupId=11': [{ id: 51, type: 'ignitionOn' }],
    maintenance: [
      { id: 60, name: 'Oil', type: 'totalDistance', start: 0, period: 15_000_000 },
      { id: 61, name: 'Once', type: 'hours', start: 100, period: 0 },
    ],
    'maintenance?deviceId=1': [{ id: 60 }],
    'maintenance?groupId=11': [{ id: 60 }],
    'attributes/computed': [
      { id: 70, description: 'Charging', attribute: 'charging', expression: 'power > 13.2', type: 'boolean' },
      { id: 71, description: '', attribute: 'door', expression: 'in2 == 1', type: 'boolean' },
    ],
    'attributes/computed?groupId=10': [{ id: 70 }],
  };

  private constructor() {
    this.#server = createServer((request, response) => {
      const url = new URL(request.url ?? '', 'http://traccar.test');
      const name = url.pathname.replace('/api/', '');
      const isKnown = request.headers.authorization === `Bearer ${TOKEN}`;
      const answer = name === 'positions' ? this.#positionsOf(url.searchParams) : this.#listOf(name, url.searchParams);
      const isBroken = name === 'positions' && Date.parse(url.searchParams.get('from') ?? '') >= this.brokenFromMs;
      response.writeHead(isBroken ? 400 : isKnown ? 200 : 401, { 'content-type': 'application/json' });
      response.end(JSON.stringify(isKnown ? answer : {}));
    });
  }

  static async open(): Promise<FakeTraccar> {
    const traccar = new FakeTraccar();
    await new Promise<void>((resolve) => {
      traccar.#server.listen(0, '127.0.0.1', resolve);
    });
    return traccar;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #listOf(name: string, query: URLSearchParams): unknown {
    const of = ['userId', 'deviceId', 'groupId'].find((parameter) => query.has(parameter));
    return this.lists[of === undefined ? name : `${name}?${of}=${query.get(of)}`] ?? [];
  }

  #positionsOf(query: URLSearchParams): readonly SourcePosition[] {
    const [from, to] = ['from', 'to'].map((name) => Date.parse(query.get(name) ?? ''));
    if (query.get('deviceId') !== '1') return [];
    this.asked.push(from ?? 0);
    return this.positions.filter(({ fixTime }) => {
      const atMs = Date.parse(fixTime);
      return atMs >= (from ?? 0) && atMs < (to ?? 0);
    });
  }
}
