import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where people paste the commands. */
export const ROOT = join(import.meta.dirname, '../../..');
export const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');

/** The commands that stand under `<!-- example: name -->`. */
export function example(name: string): string {
  const [, commands] = new RegExp(`<!-- example: ${name} -->\\n\`\`\`sh\\n([\\s\\S]*?)\`\`\``).exec(readme) ?? [];
  if (commands === undefined) throw new Error(`the README has no example ${name}`);
  return commands;
}
