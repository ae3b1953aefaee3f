import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openKafkaLog } from '@outrider/log';
import { startKafka } from '../../servers/kafka.ts';
import { measureReturning, returningFigures } from '../returning/measure.ts';
import { defineSection } from '../section.ts';

/** As the section `returning`, on a real broker. */
export const section = defineSection({
  about: 'live clients that return at once with their cursors: time until they miss nothing, on Kafka',
  bare: 'the same messages, made beforehand, to as many WebSockets',
  async run(say, quick) {
    const folder = mkdtempSync(join(tmpdir(), 'outrider-kafka-'));
    say('starting Kafka');
    const kafka = await startKafka(folder);
    try {
      const brokers = (kafka.environment.KAFKA_BROKERS ?? '').split(',');
      return await measureReturning('Kafka', () => openKafkaLog({ brokers, onWarning: () => {} }), say, quick);
    } finally {
      await kafka.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
  figures: returningFigures,
});
