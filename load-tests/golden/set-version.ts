import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Writes the version of the project into every `package.json`, the lockfile and the descriptions by AsyncAPI. */
export function setVersion(root: string, version: string): void {
  const change = (path: string, set: (content: string) => string) =>
    writeFileSync(join(root, path), set(readFileSync(join(root, path), 'utf8')));
  const first = (content: string) => content.replace(/"version": "[^"]+"/, `"version": "${version}"`);
  const list = execFileSync('git', ['ls-files', 'package.json', '*/package.json'], { cwd: root, encoding: 'utf8' });
  for (const path of list.split('\n')) if (path !== '') change(path, first);
  change('schemas/asyncapi.json', first);
  change('schemas/topics.asyncapi.json', first);
  change('package-lock.json', (content) => {
    const lock = JSON.parse(content) as { version: string; packages: Record<string, { version?: string }> };
    lock.version = version;
    for (const [path, entry] of Object.entries(lock.packages))
      if (!path.includes('node_modules/') && entry.version !== undefined) entry.version = version;
    return `${JSON.stringify(lock, null, 2)}\n`;
  });
}
