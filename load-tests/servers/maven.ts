import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { run } from './server.ts';

export interface Artifact {
  groupId: string;
  artifactId: string;
  version: string;
  /** Groups that it depends on and that are not needed here. */
  without?: readonly string[];
}

/** Published jars, kept between runs. */
export interface Libraries {
  /** What `java -cp` takes. */
  classPath: string;
  /** Fetches them by Maven where they are not kept yet. */
  fetch(say?: (line: string) => void): Promise<void>;
}

/** @param name of the folder that they are kept in; it changes with any of the artifacts */
export function mavenLibraries(name: string, artifacts: readonly Artifact[]): Libraries {
  const folder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'outrider', name);
  const done = join(folder, 'complete');
  return {
    classPath: join(folder, '*'),
    async fetch(say = () => {}) {
      if (existsSync(done)) return;
      say(`fetching ${name} …`);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'pom.xml'), project(name, artifacts));
      await run('mvn', ['-B', '-q', 'dependency:copy-dependencies', `-DoutputDirectory=${folder}`], { cwd: folder });
      writeFileSync(done, '');
    },
  };
}

function project(name: string, artifacts: readonly Artifact[]): string {
  const dependencies = artifacts.map(({ groupId, artifactId, version, without = [] }) => {
    const exclusions = without.map(
      (group) => `<exclusion><groupId>${group}</groupId><artifactId>*</artifactId></exclusion>`,
    );
    return `<dependency><groupId>${groupId}</groupId><artifactId>${artifactId}</artifactId><version>${version}</version>
      <exclusions>${exclusions.join('')}</exclusions></dependency>`;
  });
  return `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion><groupId>outrider</groupId><artifactId>${name}</artifactId><version>1</version>
  <dependencies>
    ${dependencies.join('\n    ')}
  </dependencies>
</project>
`;
}
