import { setTimeout as wait } from 'node:timers/promises';
import { startChild } from '../road/child.ts';
import { createVehicles, openRest } from '../road/definitions.ts';
import type { PacerMessage, PacerTask } from '../road/pacer.ts';
import { startService } from '../road/service.ts';
import { defineSection, figure } from '../section.ts';

const TERMINALS = 10_000;
const PER_PACKET = 10;
const HELD_SECONDS = 15;
const LOAD_SECONDS = 45;

/** What the service takes in memory: idle, with 10,000 terminals connected, and with all of them reporting. */
export const section = defineSection({
  about: 'resident memory idle, and with 10,000 terminals that stay connected and report',
  bare: null,
  async run(say, quick) {
    const terminals = quick ? TERMINALS / 10 : TERMINALS;
    const service = await startService();
    try {
      await wait(2000);
      const idleMb = await service.residentMb();
      say(`making ${terminals.toLocaleString('en-US')} vehicles`);
      const rest = await openRest(service);
      await createVehicles(rest, terminals);
      rest.close();
      await wait(2000);
      const definedMb = await service.residentMb();
      say('connecting');
      const pacer = await startChild<PacerTask, PacerMessage>('./pacer.ts', {
        host: service.host,
        port: service.ports.teltonika,
        terminals,
        perPacket: PER_PACKET,
        connectAtATime: 200,
        live: null,
      });
      try {
        const { seconds: connectSeconds } = await pacer.next('connected');
        await wait((quick ? 2 : HELD_SECONDS) * 1000);
        const connectedMb = await service.residentMb();
        say(`each sends ${PER_PACKET} positions every ${PER_PACKET} s`);
        pacer.say('begin');
        await pacer.next('begun');
        pacer.say('measure');
        await wait((quick ? 12 : LOAD_SECONDS) * 1000);
        const loadedMb = await service.residentMb();
        pacer.say('end');
        const { type: _, ...paced } = await pacer.next('paced');
        const peakMb = await service.peakResidentMb();
        return {
          result: { terminals, idleMb, definedMb, connectedMb, connectSeconds, loadedMb, peakMb, load: paced },
          tables: [
            {
              title: 'Resident memory of the service, MB',
              columns: ['when', 'MB'],
              rows: [
                ['idle', idleMb],
                [`${terminals.toLocaleString('en-US')} vehicles defined`, definedMb],
                ['their terminals connected', connectedMb],
                [
                  `under ${Math.round(paced.sentPositions / paced.seconds).toLocaleString('en-US')} positions/s from them`,
                  loadedMb,
                ],
                ['at most', peakMb],
              ],
            },
            {
              title: 'Terminals',
              columns: ['what', 'value'],
              rows: [
                ['seconds to connect all', connectSeconds],
                ['positions sent', paced.sentPositions],
                ['positions acknowledged', paced.acknowledgedPositions],
                ['acknowledged in, p99 ms', paced.ackMs?.p99 ?? null],
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
  figures: ({ terminals, idleMb, connectedMb, loadedMb, peakMb }) => [
    figure('idle, resident', 'MB', idleMb, { goal: { atMost: 250 } }),
    figure(`${terminals.toLocaleString('en-US')} terminals connected, resident`, 'MB', connectedMb),
    figure('a position a second of each, resident', 'MB', loadedMb),
    figure('resident at most', 'MB', peakMb),
  ],
});
