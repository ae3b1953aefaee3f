import { setTimeout as wait } from 'node:timers/promises';
import { startChild } from '../road/child.ts';
import { createGeofences, createVehicles, openRest } from '../road/definitions.ts';
import type { LatencyMs, PacerMessage, PacerTask } from '../road/pacer.ts';
import { startService } from '../road/service.ts';
import type { Section } from '../section.ts';

/** Each reports once a second, a position a packet: so many positions a second. */
const TERMINALS = 5000;
const GEOFENCES = 1000;
const WARM_SECONDS = 10;
const MEASURED_SECONDS = 30;

/** From a packet that goes into a socket to the position that comes out of the WebSocket. */
export const section: Section = {
  about: 'from packet in to acknowledgement and to WebSocket out, at 5,000 positions a second',
  async run(say, quick) {
    const terminals = quick ? TERMINALS / 10 : TERMINALS;
    const service = await startService();
    try {
      say(`making ${terminals.toLocaleString('en-US')} vehicles and ${GEOFENCES.toLocaleString('en-US')} geofences`);
      const rest = await openRest(service);
      const vehicleIds = await createVehicles(rest, terminals);
      await createGeofences(rest, GEOFENCES);
      rest.close();
      const pacer = await startChild<PacerTask, PacerMessage>('./pacer.ts', {
        host: service.host,
        port: service.ports.teltonika,
        terminals,
        perPacket: 1,
        connectAtATime: 100,
        live: { url: `ws://${service.host}:${service.ports.http}/live`, jwt: rest.jwt, vehicleIds },
      });
      try {
        await pacer.next('connected');
        pacer.say('begin');
        await pacer.next('begun');
        say('warming up');
        await wait((quick ? 2 : WARM_SECONDS) * 1000);
        say('measuring');
        pacer.say('measure');
        await wait((quick ? 5 : MEASURED_SECONDS) * 1000);
        pacer.say('end');
        const { type: _, ...paced } = await pacer.next('paced');
        const row = (what: string, times: LatencyMs | null) => [
          what,
          times?.p50 ?? null,
          times?.p90 ?? null,
          times?.p99 ?? null,
          times?.max ?? null,
        ];
        return {
          result: {
            terminals,
            geofences: GEOFENCES,
            positionsPerSecond: paced.sentPositions / paced.seconds,
            ...paced,
          },
          tables: [
            {
              title: `Latency at ${Math.round(paced.sentPositions / paced.seconds).toLocaleString('en-US')} positions/s, ms`,
              columns: ['from packet in to', 'p50', 'p90', 'p99', 'max'],
              rows: [row('acknowledged: durable', paced.ackMs), row('out of the WebSocket', paced.liveMs)],
            },
            {
              title: 'Packets',
              columns: ['what', 'count'],
              rows: [
                ['sent', paced.sentPackets],
                ['acknowledged', paced.acknowledgedPositions],
                ['live', paced.livePackets],
                ['connections lost', paced.lost],
              ],
            },
          ],
        };
      } finally {
        await pacer.stop();
      }
    } finally {
      await service.stop();
    }
  },
};
