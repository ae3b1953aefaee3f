import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where people paste the commands. */
export const ROOT = join(import.meta.dirname, '../../..');
const PAGES = ['README.md', 'docs/guide.md'];
const text = PAGES.map((page) => readFileSync(join(ROOT, page), 'utf8')).join('\n');

/** The commands under `<!-- example: name -->` of the README or the guide. */
export function example(name: string): string {
  const [, commands] = new RegExp(`<!-- example: ${name} -->\\n\`\`\`sh\\n([\\s\\S]*?)\`\`\``).exec(text) ?? [];
  if (commands === undefined) throw new Error(`no page of ${PAGES.join(', ')} has an example ${name}`);
  return commands;
}
