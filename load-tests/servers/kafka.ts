import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { freePort, run, type Server, startServer } from './server.ts';

const KAFKA_VERSION = '4.1.0';
const CLUSTER_ID = 'b3V0cmlkZXItbG9jYWwtMQ';

/** The published jars, kept between runs. */
const LIBRARIES = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'outrider', `kafka-${KAFKA_VERSION}`);

/** A further port of the broker, whose clients are told to come to another one: such as that of a proxy before it. */
export interface KafkaEntrance {
  port: number;
  toldPort: number;
}

/** Apache Kafka as one broker that is its own controller (KRaft), from the jars that Maven Central has. Needs Java 17 and Maven. */
export async function startKafka(
  folder: string,
  port?: number,
  entrances: readonly KafkaEntrance[] = [],
): Promise<Server> {
  mkdirSync(folder, { recursive: true });
  await fetchJars();
  const [at, controller] = [port ?? (await freePort()), await freePort()];
  const properties = join(folder, 'server.properties');
  writeFileSync(properties, settings(join(folder, 'logs'), at, controller, entrances));
  const classPath = join(LIBRARIES, '*');
  const java = (...args: string[]) => ['-Xmx768m', '-cp', classPath, ...args];
  await run(
    'java',
    java('kafka.tools.StorageTool', 'format', '-t', CLUSTER_ID, '-c', properties, '--ignore-formatted'),
  );
  return startServer(
    'Kafka',
    at,
    { KAFKA_BROKERS: `127.0.0.1:${at}` },
    {
      command: 'java',
      args: java('-XX:+UseSerialGC', 'kafka.Kafka', properties),
      diaryPath: join(folder, 'kafka.log'),
    },
  );
}

/** A controller's port is in its settings: a broker that starts again on its folder takes another, which is as good. */
function settings(logs: string, port: number, controller: number, entrances: readonly KafkaEntrance[]): string {
  const at = (name: string, at: number) => `${name}://127.0.0.1:${at}`;
  const further = (of: (entrance: KafkaEntrance) => number) =>
    entrances.map((entrance, nth) => `,${at(`ENTRANCE${nth}`, of(entrance))}`).join('');
  const protocols = entrances.map((_, nth) => `,ENTRANCE${nth}:PLAINTEXT`).join('');
  return `process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:${controller}
listeners=${at('PLAINTEXT', port)},${at('CONTROLLER', controller)}${further((entrance) => entrance.port)}
advertised.listeners=${at('PLAINTEXT', port)}${further(({ toldPort }) => toldPort)}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT${protocols}
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

async function fetchJars(): Promise<void> {
  const done = join(LIBRARIES, 'complete');
  if (existsSync(done)) return;
  mkdirSync(LIBRARIES, { recursive: true });
  writeFileSync(join(LIBRARIES, 'pom.xml'), project());
  await run('mvn', ['-B', '-q', 'dependency:copy-dependencies', `-DoutputDirectory=${LIBRARIES}`], { cwd: LIBRARIES });
  writeFileSync(done, '');
}

function project(): string {
  const dependency = (groupId: string, artifactId: string, version: string) =>
    `<dependency><groupId>${groupId}</groupId><artifactId>${artifactId}</artifactId><version>${version}</version></dependency>`;
  return `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion><groupId>outrider</groupId><artifactId>kafka</artifactId><version>1</version>
  <dependencies>
    ${dependency('org.apache.kafka', 'kafka_2.13', KAFKA_VERSION)}
    ${dependency('org.slf4j', 'slf4j-nop', '1.7.36')}
  </dependencies>
</project>
`;
}
