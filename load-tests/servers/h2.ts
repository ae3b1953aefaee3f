import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { reservePort } from '@outrider/testing/port';
import { example } from '../../services/outrider/src/readme.fixture.ts';
import { type Libraries, mavenLibraries } from './maven.ts';
import { run, type Server, startServer } from './server.ts';

/** Those that Traccar came with: files of one are not read by the other. */
export const H2_VERSIONS = ['1.4.200', '2.3.232'] as const;
export type H2Version = (typeof H2_VERSIONS)[number];

export const H2_LIBRARIES: Readonly<Record<H2Version, Libraries>> = {
  '1.4.200': h2Libraries('1.4.200'),
  '2.3.232': h2Libraries('2.3.232'),
};

function h2Libraries(version: H2Version): Libraries {
  return mavenLibraries(`h2-${version}`, [{ groupId: 'com.h2database', artifactId: 'h2', version }]);
}

/**
 * H2's own server over a database `database` of user `sa`, as the guide has it started, by `DATABASE_URL`. Needs Java
 * 17 and Maven.
 *
 * @param script what fills the database, as Traccar does: in the file, by Java
 */
export async function startH2(folder: string, version: H2Version, script: string): Promise<Server> {
  const libraries = H2_LIBRARIES[version];
  await libraries.fetch();
  const data = join(folder, 'data');
  mkdirSync(data, { recursive: true });
  const file = join(folder, 'fill.sql');
  writeFileSync(file, script);
  const classPath = ['-cp', libraries.classPath];
  const url = `jdbc:h2:${join(data, 'database')}`;
  await run('java', [...classPath, 'org.h2.tools.RunScript', '-url', url, '-user', 'sa', '-script', file]);
  const [pg, tcp] = [await reservePort(), await reservePort()];
  const pasted = (name: string) =>
    example(name)
      .replaceAll('/opt/traccar/lib/*', libraries.classPath)
      .replaceAll('"$PWD/traccar-copy"', `'${data}'`)
      .replaceAll('5435', String(pg))
      .replaceAll('9095', String(tcp));
  const server = await startServer(
    'H2',
    pg,
    { DATABASE_URL: `postgres://sa@127.0.0.1:${pg}/database` },
    // The shell becomes Java, which then takes the signals.
    { command: 'sh', args: ['-c', `exec ${pasted('h2-server').trim()}`], logPath: join(folder, 'h2.log') },
  );
  await run('sh', ['-ec', pasted('h2-open')]).catch(async (error) => {
    await server.stop();
    throw error;
  });
  return server;
}
