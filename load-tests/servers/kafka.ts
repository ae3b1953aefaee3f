import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { reservePort } from '@outrider/testing/port';
import { mavenLibraries } from './maven.ts';
import { run, type Security, type Server, startServer } from './server.ts';

const KAFKA_VERSION = '4.1.0';
const CLUSTER_ID = 'b3V0cmlkZXItbG9jYWwtMQ';

export const KAFKA_LIBRARIES = mavenLibraries(`kafka-${KAFKA_VERSION}`, [
  { groupId: 'org.apache.kafka', artifactId: 'kafka_2.13', version: KAFKA_VERSION },
  { groupId: 'org.slf4j', artifactId: 'slf4j-nop', version: '1.7.36' },
]);

/** A further port of the broker, which advertises another port to its clients, such as that of a proxy before it. */
export interface KafkaEntrance {
  port: number;
  advertisedPort: number;
}

/**
 * Apache Kafka as one broker that is its own controller (KRaft), from the jars that Maven Central has. Needs Java 17
 * and Maven.
 */
export async function startKafka(
  folder: string,
  port?: number,
  entrances: readonly KafkaEntrance[] = [],
  security: Security | null = null,
): Promise<Server> {
  mkdirSync(folder, { recursive: true });
  await KAFKA_LIBRARIES.fetch();
  const [at, controller] = [port ?? (await reservePort()), await reservePort()];
  const properties = join(folder, 'server.properties');
  const secureAt = await reservePort();
  const listeners: Listener[] = [{ name: 'PLAINTEXT', protocol: 'PLAINTEXT', port: at, advertised: `127.0.0.1:${at}` }];
  for (const [nth, { port, advertisedPort }] of entrances.entries())
    listeners.push({ name: `ENTRANCE${nth}`, protocol: 'PLAINTEXT', port, advertised: `127.0.0.1:${advertisedPort}` });
  if (security !== null)
    listeners.push({ name: 'SECURE', protocol: 'SASL_SSL', port: secureAt, advertised: `localhost:${secureAt}` });
  writeFileSync(
    properties,
    settings(join(folder, 'logs'), controller, listeners) + (security === null ? '' : secureSettings(folder, security)),
  );
  const java = (...args: string[]) => ['-Xmx768m', '-cp', KAFKA_LIBRARIES.classPath, ...args];
  const format = ['format', '-t', CLUSTER_ID, '-c', properties, '--ignore-formatted'];
  if (security !== null)
    format.push('--add-scram', `SCRAM-SHA-512=[name=${security.user},password=${security.password}]`);
  await run('java', java('kafka.tools.StorageTool', ...format));
  return startServer(
    'Kafka',
    at,
    { KAFKA_BROKERS: `127.0.0.1:${at}` },
    {
      command: 'java',
      args: java('-XX:+UseSerialGC', 'kafka.Kafka', properties),
      logPath: join(folder, 'kafka.log'),
    },
    security && {
      KAFKA_BROKERS: `localhost:${secureAt}`,
      KAFKA_SSL: 'yes',
      KAFKA_SASL_MECHANISM: 'scram-sha-512',
      KAFKA_SASL_USERNAME: security.user,
      KAFKA_SASL_PASSWORD: security.password,
    },
  );
}

interface Listener {
  name: string;
  protocol: 'PLAINTEXT' | 'SASL_SSL';
  port: number;
  /** The address that clients use. */
  advertised: string;
}

/** A controller's port is in its settings: a broker that starts again on its folder takes another, which is as good. */
function settings(logs: string, controller: number, listeners: readonly Listener[]): string {
  return `process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:${controller}
listeners=CONTROLLER://127.0.0.1:${controller},${listeners.map(({ name, port }) => `${name}://127.0.0.1:${port}`).join(',')}
advertised.listeners=${listeners.map(({ name, advertised }) => `${name}://${advertised}`).join(',')}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,${listeners.map(({ name, protocol }) => `${name}:${protocol}`).join(',')}
log.dirs=${logs}
num.partitions=3
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
auto.create.topics.enable=false
`;
}

/** It takes the key and the certificate from one file. */
function secureSettings(folder: string, { keyFile, certificateFile }: Security): string {
  const pem = join(folder, 'broker.pem');
  writeFileSync(pem, readFileSync(keyFile, 'utf8') + readFileSync(certificateFile, 'utf8'), { mode: 0o600 });
  return `ssl.keystore.type=PEM
ssl.keystore.location=${pem}
sasl.enabled.mechanisms=SCRAM-SHA-512
listener.name.secure.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
`;
}
