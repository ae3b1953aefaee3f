import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { blankPosition, type LngLat } from '@outrider/domain';
import { connectTerminal, type TerminalClient } from '@outrider/simulator';
import { WebSocket } from 'ws';
import { loadTerminalId, town } from '../drives.ts';
import { percentiles } from '../measure.ts';
import { openRest, type RestClient } from '../road/definitions.ts';
import { type Service, startService } from '../road/service.ts';
import { defineSection, figure } from '../section.ts';

const PASSWORD = 'neighbours and their fences, 2026';
const DEAD_WEBHOOKS = 300;
/** The noisy dealer asks for so many reports at the same time, again and again. */
const NOISY_REPORTS = 8;
const NOISY_VEHICLES = 8;
const POSITIONS_PER_VEHICLE = 20_000;
const STEP_MS = 10_000;
const CROSS_EVERY_MS = 500;
const REPORT_EVERY_MS = 250;
const NOISY_CROSS_EVERY_MS = 2000;
const WARM_UP_MS = 5000;
const BEGAN_AGO_MS = 30 * 86_400_000;
const GOAL = 2;

/** How long one tenant waits, alone and beside another one that does everything that one account may do. */
export const section = defineSection({
  about: 'a tenant’s webhooks, live notifications and reports, alone and beside a noisy tenant',
  bare: 'the same tenant alone',
  async run(say, quick) {
    const measureMs = quick ? 10_000 : 60_000;
    const live = await liveReceiver();
    const dead = await deadReceiver();
    const service = await startService({ WEBHOOK_ALLOW_PRIVATE: 'yes', LOG_LEVEL: 'error' });
    const rest = await openRest(service);
    try {
      say('making two dealers, one with 300 dead webhooks');
      const quiet = await tenant(service, rest, 'quiet', 0, 1);
      const noisy = await tenant(service, rest, 'noisy', 1, NOISY_VEHICLES);
      const positions = quick ? POSITIONS_PER_VEHICLE / 10 : POSITIONS_PER_VEHICLE;
      say(`archiving ${(NOISY_VEHICLES * positions).toLocaleString('en-US')} positions of the noisy one`);
      await noisy.fill(positions);
      await quiet.addRule('live', `http://127.0.0.1:${live.port}/`);
      for (let nth = 0; nth < DEAD_WEBHOOKS; nth += 1)
        await noisy.addRule(`dead ${nth}`, `http://127.1.${Math.floor(nth / 250)}.${(nth % 250) + 1}:${dead.port}/`);
      const probe = await startProbe(quiet, live);
      await wait(WARM_UP_MS);
      say('the quiet one alone');
      const alone = await probe.measure(measureMs);
      say('beside the noisy one');
      const noise = startNoise(noisy);
      await wait(WARM_UP_MS);
      const beside = await probe.measure(measureMs);
      await noise.stop();
      await probe.stop();
      const rows = (Object.keys(alone) as (keyof Samples)[]).map((what) => {
        if (alone[what].length === 0 || beside[what].length === 0) throw new Error(`no sample of: ${what}`);
        const [a, b] = [percentiles(alone[what]), percentiles(beside[what])];
        const tenth = (value: number) => Math.round(value * 10) / 10;
        return {
          what,
          samples: alone[what].length,
          samplesBeside: beside[what].length,
          p50: tenth(a(0.5)),
          p50Beside: tenth(b(0.5)),
          p95: tenth(a(0.95)),
          p95Beside: tenth(b(0.95)),
          ratio: Math.round((b(0.5) / a(0.5)) * 100) / 100,
        };
      });
      return {
        result: { rows, noise: noise.counts(), deadConnections: dead.most() },
        tables: [
          {
            title: `A tenant alone, and beside one with ${DEAD_WEBHOOKS} dead webhooks and ${NOISY_REPORTS} reports at a time, ms`,
            columns: ['what', 'samples', 'p50', 'p50 beside', 'p95', 'p95 beside', 'p50 ratio', `goal ${GOAL}`],
            rows: rows.map((row) => [
              row.what,
              row.samplesBeside,
              row.p50,
              row.p50Beside,
              row.p95,
              row.p95Beside,
              row.ratio,
              row.ratio <= GOAL ? 'held' : 'missed',
            ]),
          },
        ],
      };
    } finally {
      rest.close();
      await service.stop();
      live.close();
      dead.close();
    }
  },
  figures: ({ rows }) =>
    rows.flatMap((row) => [
      figure(`${row.what}, p50 beside the noisy tenant`, 'ms', row.p50Beside, { bare: row.p50 }),
      figure(`${row.what}, p50 of alone`, 'times', row.ratio, { goal: { atMost: GOAL } }),
    ]),
});

/** Milliseconds: from sending a fix, and of a call. */
interface Samples {
  'webhook delivered': number[];
  'live notification': number[];
  'report answered': number[];
}

interface Tenant {
  jwt: string;
  http: string;
  live: string;
  /** Where its vehicle goes in and out. */
  inside: LngLat;
  outside: LngLat;
  addRule(name: string, url: string): Promise<void>;
  /** Archives positions of all its vehicles but the first. */
  fill(positions: number): Promise<void>;
  /** Sends a fix of its first vehicle. @returns its time */
  drive(at: LngLat): number;
  stop(): Promise<void>;
}

async function tenant(
  service: Service,
  operator: RestClient,
  name: string,
  place: number,
  vehicles: number,
): Promise<Tenant> {
  const account = { login: name, name, password: PASSWORD, role: 'dealer', apiAccess: true };
  const { id: dealerId } = (await operator.post('/api/v1/users', account)) as { id: string };
  const rest = await openRest(service, account);
  const center: LngLat = town.plane.toLngLat([40_000 + 20_000 * place, 0]);
  const outside: LngLat = town.plane.toLngLat([40_400 + 20_000 * place, 0]);
  const beganMs = Math.floor((Date.now() - BEGAN_AGO_MS) / 1000) * 1000;
  const terminals: TerminalClient[] = [];
  for (let nth = 0; nth < vehicles; nth += 1) {
    const terminalId = loadTerminalId(100 * place + nth);
    await operator.post('/api/v1/vehicles', { name: `${name} ${nth}`, terminalId, dealerId });
    terminals.push(
      connectTerminal({
        protocol: 'teltonika',
        host: service.host,
        port: service.ports.teltonika,
        terminalId,
        windowPackets: 256,
        positionsPerPacket: nth === 0 ? 1 : 20,
        maxStoredPositions: 1_000_000,
      }),
    );
  }
  await rest.post('/api/v1/geozones', {
    type: 'Feature',
    geometry: { type: 'Point', coordinates: center },
    properties: { name: 'Depot', shape: 'circle', radiusM: 100 },
  });
  let fixes = 0;
  const fix = (nth: number, at: LngLat) => ({
    ...blankPosition(beganMs + nth * STEP_MS, at[1], at[0]),
    speedKmh: 40,
    satellites: 9,
  });
  return {
    jwt: rest.jwt,
    http: `http://${service.host}:${service.ports.http}`,
    live: `ws://${service.host}:${service.ports.http}/live`,
    inside: center,
    outside,
    async addRule(ruleName, url) {
      await rest.post('/api/v1/notification-rules', {
        name: ruleName,
        eventKinds: ['geofence-visit'],
        phases: ['begin', 'end'],
        webhook: { url },
      });
    },
    async fill(positions) {
      for (const terminal of terminals.slice(1))
        terminal.record(Array.from({ length: positions }, (_, nth) => fix(nth, nth % 40 < 20 ? outside : center)));
      await Promise.all(terminals.slice(1).map((terminal) => terminal.settled()));
    },
    drive(at) {
      const position = fix(fixes, at);
      fixes += 1;
      terminals[0]?.record([position]);
      return position.fixTimeMs;
    },
    async stop() {
      for (const terminal of terminals) await terminal.close();
      rest.close();
    },
  };
}

type Receiver = Awaited<ReturnType<typeof liveReceiver>>;

/** Crosses the boundary again and again, and asks for a report of its vehicles. */
async function startProbe(of: Tenant, receiver: Receiver) {
  const sentAtMs = new Map<number, number>();
  let samples = null as Samples | null;
  let running = true;
  const received = (what: 'webhook delivered' | 'live notification', fixTime: string) => {
    const sent = sentAtMs.get(Date.parse(fixTime));
    if (sent !== undefined) samples?.[what].push(performance.now() - sent);
  };
  receiver.onFix = (fixTime) => received('webhook delivered', fixTime);
  const socket = new WebSocket(of.live, { headers: { Authorization: `JWT ${of.jwt}` } });
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'subscribe', all: true, positions: false, events: false }));
  socket.on('message', (data) => {
    const message = JSON.parse(data.toString()) as { type: string; event?: { fixTime: string } };
    if (message.type === 'notification' && message.event) received('live notification', message.event.fixTime);
  });
  const crossing = (async () => {
    for (let nth = 0; running; nth += 1) {
      const now = performance.now();
      sentAtMs.set(of.drive(nth % 2 === 0 ? of.inside : of.outside), now);
      await wait(CROSS_EVERY_MS);
    }
  })();
  const asking = (async () => {
    while (running) {
      const began = performance.now();
      await report(of);
      samples?.['report answered'].push(performance.now() - began);
      await wait(REPORT_EVERY_MS);
    }
  })();
  return {
    async measure(ms: number): Promise<Samples> {
      const taken: Samples = { 'webhook delivered': [], 'live notification': [], 'report answered': [] };
      samples = taken;
      await wait(ms);
      samples = null;
      return taken;
    },
    async stop() {
      running = false;
      await Promise.all([crossing, asking]);
      socket.terminate();
      await of.stop();
    },
  };
}

/** 300 notifications with each crossing, none of whose webhooks answers; reports side by side, and as jobs. */
function startNoise(of: Tenant) {
  let running = true;
  let reports = 0;
  let refused = 0;
  let crossings = 0;
  const loops = Array.from({ length: NOISY_REPORTS }, async () => {
    while (running) {
      if (await report(of)) reports += 1;
      else {
        refused += 1;
        await wait(100);
      }
    }
  });
  const jobs = (async () => {
    while (running) {
      await fetch(`${of.http}/api/v1/report-jobs`, {
        method: 'POST',
        headers: { authorization: `JWT ${of.jwt}`, 'content-type': 'application/json' },
        body: JSON.stringify({ kind: 'track', format: 'csv', ...range(), timeZone: 'UTC' }),
      }).then((answer) => answer.arrayBuffer());
      await wait(500);
    }
  })();
  const crossing = (async () => {
    for (; running; crossings += 1) {
      of.drive(crossings % 2 === 0 ? of.inside : of.outside);
      await wait(NOISY_CROSS_EVERY_MS);
    }
  })();
  return {
    counts: () => ({ reports, refused, crossings }),
    async stop() {
      running = false;
      await Promise.all([...loops, jobs, crossing]);
      await of.stop();
    },
  };
}

function range(): { from: string; to: string } {
  const now = Date.now();
  return { from: new Date(now - BEGAN_AGO_MS - 3_600_000).toISOString(), to: new Date(now).toISOString() };
}

/** @returns false when the service refused the report for lack of capacity */
async function report(of: Tenant): Promise<boolean> {
  const query = new URLSearchParams({ ...range(), limit: '1000' });
  const answer = await fetch(`${of.http}/api/v1/reports/geozone-visits?${query}`, {
    headers: { authorization: `JWT ${of.jwt}` },
  });
  const text = await answer.text();
  if (answer.status === 503) return false;
  if (!answer.ok) throw new Error(`a report was answered with ${answer.status}: ${text}`);
  return true;
}

/** Takes webhooks, and gives the time of the fix that each is about. */
async function liveReceiver() {
  const receiver = { port: 0, onFix: (_fixTime: string) => {}, close: () => {} };
  const server = createHttpServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    response.writeHead(204).end();
    receiver.onFix((JSON.parse(body) as { data: { event: { fixTime: string } } }).data.event.fixTime);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  receiver.port = (server.address() as AddressInfo).port;
  receiver.close = () => {
    server.close();
    server.closeAllConnections();
  };
  return receiver;
}

/** Takes connections at every address of the loopback network, and never answers. */
async function deadReceiver() {
  const sockets = new Set<Socket>();
  let most = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    most = Math.max(most, sockets.size);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    most: () => most,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
