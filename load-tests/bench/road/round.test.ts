import { createTeltonikaSimulator, teltonika } from '@outrider/protocols';
import { expect, test } from 'vitest';
import { loadTerminalId } from '../drives.ts';
import { recordRound, timed } from './round.ts';

test('packets of a round are taken by the decoder, with the times that they are given, and go there and back', () => {
  const { packets } = recordRound(7, 3, 10, 1);
  expect(packets).toHaveLength(6);
  const places = packets.map((packet, nth) => {
    const lastMs = Date.UTC(2026, 4, 5) + nth * 10_000;
    const session = teltonika.createSession();
    session.push(createTeltonikaSimulator(loadTerminalId(7)).hello() ?? Buffer.alloc(0), lastMs);
    const records = session
      .push(timed(packet, lastMs, 1000), lastMs)
      .flatMap((said) => (said.type === 'positions' ? said.positions : []));
    expect(records.map(({ fixTimeMs }) => fixTimeMs)).toEqual(
      Array.from({ length: 10 }, (_, place) => lastMs - (9 - place) * 1000),
    );
    return records.map(({ latitude, longitude }) => [latitude, longitude]);
  });
  const way = places.flat();
  expect(way.slice(30)).toEqual(way.slice(0, 30).toReversed());
});
