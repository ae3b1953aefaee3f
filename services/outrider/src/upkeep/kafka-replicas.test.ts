import { createLogger, readConfig, StartError } from '@outrider/runtime';
import { expect, test } from 'vitest';
import { variables } from '../config.ts';
import { runKafkaReplicas } from './kafka-replicas.ts';

const run = (words: string[], environment: Record<string, string> = {}) =>
  runKafkaReplicas(words, readConfig(variables, environment), createLogger('silent', 'json'), () => {});

test('replicas of an embedded log are an error that names the setting', async () => {
  const refused = run(['status']);
  await expect(refused).rejects.toThrow(StartError);
  await expect(refused).rejects.toThrow('KAFKA_BROKERS must be set');
});

test('an unknown command is refused with the list of commands', async () => {
  await expect(run(['lower'])).rejects.toThrow('kafka-replicas status');
  await expect(run(['raise', 'telemetry'])).rejects.toThrow('kafka-replicas raise');
});
