import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { reservePort } from '@outrider/testing/port';
import { mavenLibraries } from './maven.ts';
import { type Server, startServer } from './server.ts';

const S3PROXY_VERSION = '4.1.0';
const ACCOUNT = { keyId: 'outrider', secret: 'outrider' };
const BUCKET = 'outrider';

/** Without the clients of the clouds that it can stand before. */
export const S3_LIBRARIES = mavenLibraries(`s3proxy-${S3PROXY_VERSION}`, [
  {
    groupId: 'org.gaul',
    artifactId: 's3proxy',
    version: S3PROXY_VERSION,
    without: [
      'com.azure',
      'com.google.cloud',
      'com.github.openstack4j.core',
      'com.github.openstack4j.core.connectors',
      'org.apache.sshd',
    ],
  },
]);

/** S3Proxy: S3 over a folder, with one bucket and one account. Needs Java 17 and Maven. */
export async function startS3(folder: string, port?: number): Promise<Server> {
  const buckets = join(folder, 'buckets');
  mkdirSync(buckets, { recursive: true });
  // A bucket that all users of the machine may read is one that anybody may read without signing.
  mkdirSync(join(buckets, BUCKET), { recursive: true, mode: 0o700 });
  await S3_LIBRARIES.fetch();
  const at = port ?? (await reservePort());
  const properties = join(folder, 's3proxy.properties');
  writeFileSync(properties, settings(buckets, at));
  const logging = join(folder, 'logback.xml');
  writeFileSync(logging, LOGGING);
  return startServer(
    'S3',
    at,
    { S3_URL: `http://${ACCOUNT.keyId}:${ACCOUNT.secret}@127.0.0.1:${at}/${BUCKET}` },
    {
      command: 'java',
      args: [
        ...['-Xmx256m', '-XX:+UseSerialGC', `-Dlogback.configurationFile=${logging}`],
        ...['-cp', S3_LIBRARIES.classPath, 'org.gaul.s3proxy.Main', '--properties', properties],
      ],
      logPath: join(folder, 's3proxy.log'),
    },
  );
}

function settings(buckets: string, port: number): string {
  return `s3proxy.endpoint=http://127.0.0.1:${port}
s3proxy.authorization=aws-v4
s3proxy.identity=${ACCOUNT.keyId}
s3proxy.credential=${ACCOUNT.secret}
jclouds.provider=filesystem-nio2
jclouds.filesystem.basedir=${buckets}
`;
}

/** Its default writes down each byte. */
const LOGGING = `<configuration>
  <appender name="output" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%date %level %logger{0} %message%n</pattern></encoder>
  </appender>
  <root level="warn"><appender-ref ref="output"/></root>
</configuration>
`;
