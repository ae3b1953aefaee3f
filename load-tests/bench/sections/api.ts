import type { JWK } from 'jose';
import { percentile } from '../measure.ts';
import type { BareMessage, BareTask } from '../rest/bare-route.ts';
import type { Called, CallerMessage, CallerTask } from '../rest/caller.ts';
import { startChild } from '../road/child.ts';
import { createVehicles, openRest } from '../road/definitions.ts';
import { startService } from '../road/service.ts';
import { defineSection, figure } from '../section.ts';

const VEHICLES = 1000;
const CONNECTIONS = 32;
const TURNS = 10;
const TURN_MS = 1500;
const WARM_UP_MS = 4000;
const PATH = '/api/v1/vehicles';

/**
 * The profile of one vehicle, asked of the service with a token, beside the least that an authorized call can cost: a
 * route that has jose verify the same token each time, and answers the same body. In turns, so that both meet the same
 * machine. The service verifies a signature when it first sees a token, and looks at the session again every few
 * seconds; account, limits, blocks and rights it looks at with every call.
 */
export const section = defineSection({
  about: 'authorized GET /api/v1/vehicles/{id}, beside a bare Hono route that has the same token verified',
  bare: 'a route of Hono that has jose verify the same token and returns the same body',
  async run(say, quick) {
    const service = await startService();
    try {
      say(`making ${VEHICLES.toLocaleString('en-US')} vehicles`);
      const rest = await openRest(service);
      const ids = await createVehicles(rest, VEHICLES);
      rest.close();
      const base = `http://${service.host}:${service.ports.http}`;
      const authorization = `JWT ${rest.jwt}`;
      const get = async (path: string): Promise<unknown> => {
        const response = await fetch(`${base}${path}`, { headers: { authorization } });
        if (!response.ok) throw new Error(`GET ${path} answered ${response.status}`);
        return response.json();
      };
      const bodies = new Map<string, unknown>();
      for (const id of ids) bodies.set(id, await get(`${PATH}/${id}`));
      const { keys } = (await get('/.well-known/jwks.json')) as { keys: JWK[] };
      const [jwk] = keys;
      if (jwk === undefined) throw new Error('the service shows no key');

      const bare = await startChild<BareTask, BareMessage>('../rest/bare-route.ts', {
        host: service.host,
        jwk,
        path: PATH,
        bodies,
      });
      try {
        const { port } = await bare.next('listening');
        say('warming up, then measuring in turns');
        const caller = await startChild<CallerTask, CallerMessage>('../rest/caller.ts', {
          host: service.host,
          ports: { service: service.ports.http, bare: port },
          connections: CONNECTIONS,
          paths: ids.map((id) => `${PATH}/${id}`),
          authorization,
          turns: quick ? 2 : TURNS,
          turnMs: quick ? 500 : TURN_MS,
          warmUpMs: quick ? 1000 : WARM_UP_MS,
        });
        try {
          const { servers } = await caller.next('called');
          const ours = resultOf(servers.service);
          const theirs = resultOf(servers.bare);
          const shares = ours.perTurn.map((rate, turn) => rate / (theirs.perTurn[turn] ?? Number.NaN));
          const share = percentile(shares, 0.5);
          const row = (what: string, { requestsPerSecond, p50Ms, p99Ms }: typeof ours, part: number | null) => [
            what,
            Math.round(requestsPerSecond),
            p50Ms,
            p99Ms,
            part,
          ];
          return {
            result: { connections: CONNECTIONS, vehicles: VEHICLES, service: ours, bare: theirs, share },
            tables: [
              {
                title: `GET ${PATH}/{id} with a token, ${CONNECTIONS} connections`,
                columns: ['server', 'requests/s', 'p50 ms', 'p99 ms', 'of bare'],
                rows: [row('Outrider', ours, share), row('bare Hono route with jose verification', theirs, null)],
              },
            ],
          };
        } finally {
          await caller.stop();
        }
      } finally {
        await bare.stop();
      }
    } finally {
      await service.stop();
    }
  },
  figures: ({ service, bare }) => [
    figure('GET of a vehicle with a token', 'requests/s', service.requestsPerSecond, { bare: bare.requestsPerSecond }),
    figure('GET of a vehicle, p99', 'ms', service.p99Ms, { bare: bare.p99Ms }),
  ],
});

/** The median turn is reported. */
function resultOf(called: Called | undefined): {
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  perTurn: number[];
} {
  if (called === undefined) throw new Error('a server was not called');
  const { requestsPerSecond: perTurn, ...latency } = called;
  return { requestsPerSecond: percentile(perTurn, 0.5), ...latency, perTurn };
}
