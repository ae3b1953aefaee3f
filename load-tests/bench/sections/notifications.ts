import { once } from 'node:events';
import { blankPosition, type LngLat, type Position } from '@outrider/domain';
import { connectTerminal } from '@outrider/simulator';
import { WebSocket } from 'ws';
import { benchNotifications, type NotificationsCase } from '../../../services/notifier/src/notifications.bench.ts';
import { loadTerminalId, town } from '../drives.ts';
import { percentile } from '../measure.ts';
import { createGeofences, createVehicles, openRest } from '../road/definitions.ts';
import { type Service, startService } from '../road/service.ts';
import { defineSection, figure } from '../section.ts';

const CASES: readonly NotificationsCase[] = [
  { events: 20_000, listeners: 1, otherRules: 0 },
  { events: 20_000, listeners: 1, otherRules: 2000 },
  { events: 2000, listeners: 20, otherRules: 0 },
];
const OTHER_GEOFENCES = 1000;
const SAMPLES = 200;
/** A fix goes out this often: the times are exact to about twice of it. */
const FIX_EVERY_MS = 2;
const FIX_STEP_MS = 10_000;
/** Long enough ago that no fix lies ahead of the clock, however long it takes. */
const BEGAN_AGO_MS = 60 * 86_400_000;
const STUCK_MS = 20_000;

/** What a rule costs that matches, and how long a geofence takes to count. */
export const section = defineSection({
  about: 'notifications stored and pushed a second; time from a geofence’s creation to being in force',
  bare: 'bare inserts into SQLite and sends to WebSockets',
  async run(say, quick) {
    const figures = [];
    for (const one of CASES) {
      const events = quick ? one.events / 10 : one.events;
      say(
        `${events.toLocaleString('en-US')} events, ${one.listeners} who asked for them, ${one.otherRules} other rules`,
      );
      figures.push(await benchNotifications({ ...one, events }));
    }
    const samples = quick ? SAMPLES / 10 : SAMPLES;
    const inForce = await timeToForce(samples, quick ? OTHER_GEOFENCES / 10 : OTHER_GEOFENCES, say);
    return {
      result: { figures, inForce },
      tables: [
        {
          title: 'Notifications: held against the rules, stored, and at the WebSocket of who asked for them',
          columns: ['events', 'who asked', 'other rules', 'notifications/s', 'bare inserts and sends/s', 'of bare'],
          rows: figures.map((row) => [
            row.events,
            row.listeners,
            row.otherRules,
            row.perSecond,
            row.barePerSecond,
            row.share,
          ]),
        },
        {
          title: `A geofence's creation until a fix that is sent is held against it, ms, among ${inForce.geofences.toLocaleString('en-US')} others`,
          columns: ['from', 'samples', 'p50', 'p90', 'p99', 'max'],
          rows: [
            ['the answer', inForce.samples, ...Object.values(inForce.fromAnswerMs)],
            ['the request', inForce.samples, ...Object.values(inForce.fromRequestMs)],
          ],
        },
      ],
    };
  },
  figures: ({ figures, inForce }) => [
    ...figures.map((row) =>
      figure(`${row.listeners} who asked, ${row.otherRules} other rules`, 'notifications/s', row.perSecond, {
        bare: row.barePerSecond,
      }),
    ),
    figure('a geofence in force after its answer, p99', 'ms', inForce.fromAnswerMs.p99),
  ],
});

interface InForce {
  samples: number;
  geofences: number;
  /** 0: the first fix that was sent after the answer was held against it. */
  fromAnswerMs: Spread;
  fromRequestMs: Spread;
}

interface Spread {
  p50: number;
  p90: number;
  p99: number;
  max: number;
}

/**
 * A vehicle goes to and fro between two places, a fix every few milliseconds. Again and again a geofence is made around
 * one of them, and deleted: the first of its fixes that makes an event of that geofence is the first that it counted
 * for.
 */
async function timeToForce(samples: number, geofences: number, say: (progress: string) => void): Promise<InForce> {
  const service = await startService();
  try {
    const rest = await openRest(service);
    say(`making ${geofences.toLocaleString('en-US')} geofences`);
    await createVehicles(rest, 1);
    await createGeofences(rest, geofences);
    const [here, there] = [town.plane.toLngLat([40_000, 0]), town.plane.toLngLat([40_400, 0])];
    const shuttle = startShuttle(service, here, there);
    const listener = await listen(service, rest.jwt);
    try {
      await new Promise((resolve) => setTimeout(resolve, 2000));
      say(`making ${samples} more, one by one`);
      const fromAnswerMs: number[] = [];
      const fromRequestMs: number[] = [];
      for (let sample = 0; sample < samples; sample++) {
        const requestedMs = performance.now();
        const { id } = (await rest.post('/api/v1/geozones', {
          type: 'Feature',
          geometry: { type: 'Point', coordinates: there },
          properties: { name: `Sample ${sample}`, shape: 'circle', radiusM: 100 },
        })) as { id: string };
        const answeredMs = performance.now();
        const fixTimeMs = await listener.firstFixOf(id);
        const sentMs = shuttle.sentAtMs(fixTimeMs);
        fromAnswerMs.push(Math.max(0, sentMs - answeredMs));
        fromRequestMs.push(Math.max(0, sentMs - requestedMs));
        // Or each further one would be measured among the events of all before it.
        const headers = { Authorization: `JWT ${rest.jwt}` };
        const url = `http://${service.host}:${service.ports.http}/api/v1/geozones/${id}`;
        const deleted = await fetch(url, { method: 'DELETE', headers });
        if (!deleted.ok) throw new Error(`a geofence could not be deleted: ${deleted.status}`);
      }
      return { samples, geofences, fromAnswerMs: spreadOf(fromAnswerMs), fromRequestMs: spreadOf(fromRequestMs) };
    } finally {
      listener.close();
      await shuttle.stop();
      rest.close();
    }
  } finally {
    await service.stop();
  }
}

function spreadOf(timesMs: readonly number[]): Spread {
  const at = (share: number) => Math.round(percentile(timesMs, share) * 10) / 10;
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
}

function startShuttle({ host, ports }: Service, here: LngLat, there: LngLat) {
  const terminal = connectTerminal({
    protocol: 'teltonika',
    host,
    port: ports.teltonika,
    terminalId: loadTerminalId(0),
    windowPackets: 256,
    positionsPerPacket: 1,
    maxStoredPositions: 100_000,
  });
  const beganMs = Math.floor((Date.now() - BEGAN_AGO_MS) / 1000) * 1000;
  const sentAtMs: number[] = [];
  const timer = setInterval(() => {
    const nth = sentAtMs.length;
    const [longitude, latitude] = nth % 2 === 0 ? here : there;
    const position: Position = {
      ...blankPosition(beganMs + nth * FIX_STEP_MS, latitude, longitude),
      speedKmh: 40,
      satellites: 9,
    };
    sentAtMs.push(performance.now());
    terminal.record([position]);
  }, FIX_EVERY_MS);
  return {
    sentAtMs(fixTimeMs: number): number {
      const at = sentAtMs[(fixTimeMs - beganMs) / FIX_STEP_MS];
      if (at === undefined) throw new Error(`no fix of ${new Date(fixTimeMs).toISOString()} was sent`);
      return at;
    },
    async stop() {
      clearInterval(timer);
      await terminal.close();
    },
  };
}

/** Receives events, and notes the first one of each geofence. */
async function listen({ host, ports }: Service, jwt: string) {
  const socket = new WebSocket(`ws://${host}:${ports.http}/live`, { headers: { Authorization: `JWT ${jwt}` } });
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'subscribe', all: true, positions: false }));
  const first = new Map<string, number>();
  let wake: () => void = () => {};
  socket.on('message', (data) => {
    const message = JSON.parse(data.toString()) as { type: string; geofenceId?: string; fixTime: string };
    if (message.type !== 'event' || !message.geofenceId || first.has(message.geofenceId)) return;
    first.set(message.geofenceId, Date.parse(message.fixTime));
    wake();
  });
  return {
    /** Time of the first fix that made an event of the geofence. */
    async firstFixOf(geofenceId: string): Promise<number> {
      const deadlineMs = performance.now() + STUCK_MS;
      for (;;) {
        const fixTimeMs = first.get(geofenceId);
        if (fixTimeMs !== undefined) return fixTimeMs;
        if (performance.now() > deadlineMs) throw new Error(`no event of ${geofenceId}`);
        await Promise.race([
          new Promise<void>((resolve) => {
            wake = resolve;
          }),
          new Promise((resolve) => setTimeout(resolve, 1000)),
        ]);
      }
    },
    close: () => socket.terminate(),
  };
}
