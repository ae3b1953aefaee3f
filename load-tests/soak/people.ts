import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { RestClient } from '../bench/road/definitions.ts';
import type { Service } from '../bench/road/service.ts';

const LISTENERS = 20;
/** Vehicles that each of them watches. */
const WATCHED = 50;
const WATCHED_BY_RULES = 100;
const REPORT_EVERY_MS = 5000;
const JOB_EVERY_MS = 60_000;
const MOST_POINTS = 500;

/** What people did, and what came of it. */
export interface Received {
  positions: number;
  events: number;
  notifications: number;
  webhooks: number;
  reports: number;
  jobs: number;
  /** What was not answered, or ended, though it should not. */
  failures: string[];
}

/** Clients that watch the fleet, receive notifications and request reports, until they are closed. */
export interface People {
  received: Received;
  leave(): Promise<void>;
}

/** @param vehicleIds whom they watch: the first of them most */
export async function letPeopleIn(service: Service, rest: RestClient, vehicleIds: readonly string[]): Promise<People> {
  const received: Received = {
    positions: 0,
    events: 0,
    notifications: 0,
    webhooks: 0,
    reports: 0,
    jobs: 0,
    failures: [],
  };
  const fail = (text: string): void => {
    if (received.failures.length < 20) received.failures.push(text);
  };
  let leaving = false;
  const hooks = createServer((request, response) => {
    received.webhooks++;
    request.resume().on('end', () => response.writeHead(204).end());
  });
  await new Promise<void>((resolve) => hooks.listen(0, '127.0.0.1', resolve));
  await rest.post('/api/v1/notification-rules', {
    name: 'Sites and speed',
    eventKinds: ['geofence-visit', 'speeding'],
    phases: ['begin', 'end'],
    vehicleIds: vehicleIds.slice(0, WATCHED_BY_RULES),
    webhook: { url: `http://127.0.0.1:${(hooks.address() as AddressInfo).port}/` },
  });

  const url = `ws://${service.host}:${service.ports.http}/live`;
  const sockets = Array.from({ length: LISTENERS }, (_, listener) => {
    const socket = new WebSocket(url, { headers: { Authorization: `JWT ${rest.jwt}` }, perMessageDeflate: false });
    const from = (listener * WATCHED) % Math.max(1, vehicleIds.length - WATCHED);
    socket.on('open', () =>
      socket.send(JSON.stringify({ type: 'subscribe', vehicles: vehicleIds.slice(from, from + WATCHED) })),
    );
    socket.on('error', (error) => fail(`a live client: ${error.message}`));
    socket.on('close', (code) => {
      if (!leaving) fail(`a live client was let go with ${code}`);
    });
    socket.on('message', (data) => {
      const { type } = JSON.parse(data.toString()) as { type: string };
      if (type === 'position') received.positions++;
      else if (type === 'event') received.events++;
      else if (type === 'notification') received.notifications++;
    });
    return socket;
  });

  const done = new AbortController();
  const every = async (ms: number, act: (turn: number) => Promise<void>): Promise<void> => {
    for (let turn = 0; !done.signal.aborted; turn++) {
      await act(turn).catch((error: Error) => {
        if (!done.signal.aborted) fail(error.message);
      });
      await wait(ms, undefined, { signal: done.signal }).catch(() => {});
    }
  };
  const get = async (path: string): Promise<void> => {
    const answer = await fetch(`http://${service.host}:${service.ports.http}${path}`, {
      headers: { Authorization: `JWT ${rest.jwt}` },
      signal: done.signal,
    });
    await answer.arrayBuffer();
    if (answer.status !== 200) throw new Error(`GET ${path.split('?', 1)[0]} was answered ${answer.status}`);
  };
  const busy = [
    every(REPORT_EVERY_MS, async (turn) => {
      const kind =
        ['trips', 'stops', 'mileage', 'geozone-visits', 'track', 'summary', 'speeding', 'current-state'][turn % 8] ??
        'trips';
      const period = new URLSearchParams({
        from: new Date(Date.now() - 3_600_000).toISOString(),
        to: new Date().toISOString(),
      });
      if (kind === 'track') period.set('maxPoints', String(MOST_POINTS));
      const asked = kind === 'current-state' ? new URLSearchParams() : period;
      asked.append('vehicleId', vehicleIds[turn % vehicleIds.length] ?? '');
      await get(`/api/v1/reports/${kind}?${asked}`);
      received.reports++;
    }),
    every(JOB_EVERY_MS, async () => {
      await rest.post('/api/v1/report-jobs', {
        kind: 'mileage',
        vehicleId: vehicleIds[0],
        from: new Date(Date.now() - 3_600_000).toISOString(),
        to: new Date().toISOString(),
        timeZone: 'Europe/Berlin',
        period: 'day',
        format: 'xlsx',
      });
      received.jobs++;
    }),
  ];
  return {
    received,
    async leave() {
      leaving = true;
      done.abort();
      for (const socket of sockets) socket.terminate();
      await Promise.all(busy);
      hooks.closeAllConnections();
      await new Promise((resolve) => hooks.close(resolve));
    },
  };
}
