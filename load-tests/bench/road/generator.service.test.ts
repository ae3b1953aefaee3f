import { expect, test } from 'vitest';
import type { BareServerMessage } from './bare-server.ts';
import { startChild } from './child.ts';
import type { GeneratorMessage, GeneratorTask } from './generator.ts';

test('every position that the generator sends is parsed and acknowledged by the bare server', async () => {
  const server = await startChild<null, BareServerMessage>('./bare-server.ts', null);
  try {
    const { port } = await server.next('listening');
    const generator = await startChild<GeneratorTask, GeneratorMessage>('./generator.ts', {
      host: '127.0.0.1',
      port,
      connections: 5,
      positionsPerConnection: 205,
      perPacket: 10,
      windowPackets: 4,
      endMs: Date.UTC(2026, 4, 4),
    });
    try {
      expect(await generator.next('ready')).toMatchObject({ positions: 1025, packets: 105 });
      generator.say('go');
      await generator.next('done');
      server.say('count');
      expect(await server.next('counted')).toMatchObject({ positions: 1025 });
    } finally {
      await generator.stop();
    }
  } finally {
    await server.stop();
  }
});

test('a child that fails is reported as an error, not waited for', async () => {
  const generator = await startChild<Partial<GeneratorTask>, GeneratorMessage>('./generator.ts', { connections: -1 });
  try {
    await expect(generator.next('done')).rejects.toThrow();
  } finally {
    await generator.stop();
  }
});
