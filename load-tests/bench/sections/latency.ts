import { setTimeout as wait } from 'node:timers/promises';
import { startChild } from '../road/child.ts';
import { createGeofences, createVehicles, openRest, type RestClient } from '../road/definitions.ts';
import type { LatencyMs, Paced, PacerMessage, PacerTask } from '../road/pacer.ts';
import { type Service, startService } from '../road/service.ts';
import { defineSection, figure } from '../section.ts';

/** Terminals that report in turn, a position a packet. */
const LOADS = [
  { terminals: 300, fixSeconds: 1 },
  { terminals: 1000, fixSeconds: 1 },
  { terminals: 5000, fixSeconds: 1 },
  { terminals: 5000, fixSeconds: 0.25 },
] as const;
const VEHICLES = 5000;
const GEOFENCES = 1000;
const WARM_SECONDS = 10;
const MEASURED_SECONDS = 30;
/** Drives that the terminals share: at 20,000 positions/s the one who sends must not be what is late. */
const ROUNDS = 100;

type Load = (typeof LOADS)[number];

/** From a packet that goes into a socket to the position that comes out of the WebSocket. */
export const section = defineSection({
  about: 'from packet in to acknowledgement and to WebSocket out, at 300, 1,000, 5,000 and 20,000 positions a second',
  bare: null,
  async run(say, quick) {
    const service = await startService();
    try {
      const vehicles = quick ? VEHICLES / 10 : VEHICLES;
      say(`making ${vehicles.toLocaleString('en-US')} vehicles and ${GEOFENCES.toLocaleString('en-US')} geofences`);
      const rest = await openRest(service);
      const vehicleIds = await createVehicles(rest, vehicles);
      await createGeofences(rest, GEOFENCES);
      rest.close();
      const measured: (Load & Omit<Paced, 'type'>)[] = [];
      for (const load of LOADS) {
        const scaled = quick ? { ...load, terminals: load.terminals / 10 } : load;
        say(`${(scaled.terminals / scaled.fixSeconds).toLocaleString('en-US')} positions/s`);
        measured.push({ ...load, ...(await measure(service, rest, vehicleIds, scaled, quick)) });
      }
      const rate = ({ sentPositions, seconds }: Omit<Paced, 'type'>) => Math.round(sentPositions / seconds);
      const row = (paced: Omit<Paced, 'type'>, times: LatencyMs | null) => [
        rate(paced),
        times?.p50 ?? null,
        times?.p90 ?? null,
        times?.p99 ?? null,
        times?.max ?? null,
      ];
      const columns = ['positions/s', 'p50', 'p90', 'p99', 'max'];
      return {
        result: { geofences: GEOFENCES, loads: measured },
        tables: [
          {
            title: 'From packet in to its acknowledgement: durable, ms',
            columns,
            rows: measured.map((paced) => row(paced, paced.ackMs)),
          },
          {
            title: 'From packet in to the position out of the WebSocket, ms',
            columns,
            rows: measured.map((paced) => row(paced, paced.liveMs)),
          },
          {
            title: 'Packets',
            columns: ['positions/s', 'sent', 'acknowledged', 'live', 'connections lost'],
            rows: measured.map((paced) => [
              rate(paced),
              paced.sentPackets,
              paced.acknowledgedPositions,
              paced.livePackets,
              paced.lost,
            ]),
          },
        ],
      };
    } finally {
      await service.stop();
    }
  },
  figures({ loads }) {
    return loads.flatMap(({ terminals, fixSeconds, ackMs, liveMs }) => {
      const at = `at ${(terminals / fixSeconds).toLocaleString('en-US')} positions/s, p99`;
      return [
        figure(`packet to acknowledgement ${at}`, 'ms', ackMs?.p99),
        figure(`packet to WebSocket ${at}`, 'ms', liveMs?.p99, { goal: { atMost: 20 } }),
      ];
    });
  },
});

async function measure(
  service: Service,
  { jwt }: RestClient,
  vehicleIds: readonly string[],
  { terminals, fixSeconds }: { terminals: number; fixSeconds: number },
  quick: boolean,
): Promise<Omit<Paced, 'type'>> {
  const pacer = await startChild<PacerTask, PacerMessage>('./pacer.ts', {
    host: service.host,
    port: service.ports.teltonika,
    terminals,
    perPacket: 1,
    fixSeconds,
    rounds: ROUNDS,
    connectAtATime: 100,
    live: { url: `ws://${service.host}:${service.ports.http}/live`, jwt, vehicleIds },
  });
  try {
    await pacer.next('connected');
    pacer.say('begin');
    await pacer.next('begun');
    await wait((quick ? 2 : WARM_SECONDS) * 1000);
    pacer.say('measure');
    await wait((quick ? 5 : MEASURED_SECONDS) * 1000);
    pacer.say('end');
    const { type: _, ...paced } = await pacer.next('paced');
    return paced;
  } finally {
    await pacer.stop();
  }
}
