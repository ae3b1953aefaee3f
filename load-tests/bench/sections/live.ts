import { type AudiencesCase, benchAudiences } from '../../../services/notifier/src/live/audiences.bench.ts';
import { benchFanOut, type FanOutCase } from '../../../services/notifier/src/live/fan-out.bench.ts';
import { defineSection, figure } from '../section.ts';

const AUDIENCES: AudiencesCase = { clients: 10_000, vehicles: 2000 };
const FAN_OUT: FanOutCase = { clients: 20, vehicles: 10_000, rounds: 3 };

/** What a change costs among many live clients, and what a position costs on its way to them. */
export const section = defineSection({
  about:
    'live API: audiences of 10,000 clients as something changes; positions a second in each format, and their bytes',
  bare: 'for changes: a pass over all clients for each vehicle; for positions: the same JSON, encoded once, sent by ws',
  async run(say, quick) {
    say('changes among many clients');
    const changes = benchAudiences(quick ? { clients: 1000, vehicles: 200 } : AUDIENCES);
    say('positions to clients');
    const fanOut = await benchFanOut(quick ? { ...FAN_OUT, vehicles: 1000, rounds: 1 } : FAN_OUT);
    const { clients, vehicles } = quick ? { clients: 1000, vehicles: 200 } : AUDIENCES;
    return {
      result: { changes, fanOut },
      tables: [
        {
          title: `Live audiences, ${clients.toLocaleString('en-US')} clients and ${vehicles.toLocaleString('en-US')} vehicles`,
          columns: [
            'change',
            'change, µs',
            'with the audiences that it concerns, µs',
            'plain: all clients for each vehicle, ms',
          ],
          rows: changes.map((row) => [row.change, row.changeUs, row.withAudiencesUs, row.plainMs]),
        },
        {
          title: 'Positions from the hub to WebSockets',
          columns: ['format', 'clients', 'vehicles', 'positions/s', 'bytes a position', 'bytes of a snapshot'],
          rows: fanOut.map((row) => [
            row.by,
            row.clients,
            row.vehicles,
            row.perSecond,
            row.bytesPerPosition,
            row.snapshotBytes,
          ]),
        },
      ],
    };
  },
  figures: ({ changes, fanOut }) => [
    ...changes.map((row) =>
      figure(`change: ${row.change}`, 'µs', row.withAudiencesUs, {
        bare: row.plainMs === null ? null : row.plainMs * 1000,
      }),
    ),
    ...fanOut
      .filter(({ by }) => by !== 'bare')
      .map((row) =>
        figure(`${row.by} to ${row.clients} clients`, 'positions/s', row.perSecond, {
          bare: fanOut.find(({ by }) => by === 'bare')?.perSecond,
        }),
      ),
  ],
});
