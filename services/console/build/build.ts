import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { build } from 'vite';
import { writeWorldMap } from './world-map.ts';

const ROOT = join(import.meta.dirname, '..');
const COMPRESSIBLE = new Set(['.html', '.js', '.css', '.svg', '.json', '.webmanifest']);

/** `npm run build -w @outrider/console`: the page, the map of the world, and a compressed form beside each file. */
const dist = join(ROOT, 'dist');
await build({ root: ROOT, configFile: join(ROOT, 'vite.config.ts'), logLevel: 'warn' });
const { tiles } = writeWorldMap(join(dist, 'maps'));
const sizes = await compressFiles(dist);
process.stdout.write(`console built: ${sizes.files} files, ${sizes.kB} kB compressed; ${tiles} tiles of the world\n`);

async function compressFiles(directory: string): Promise<{ files: number; kB: number }> {
  let files = 0;
  let bytes = 0;
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !COMPRESSIBLE.has(extname(entry.name))) continue;
    const file = join(entry.parentPath, entry.name);
    const text = readFileSync(file);
    const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: text.length };
    const compressed = await promisify(brotliCompress)(text, { params });
    writeFileSync(`${file}.br`, compressed);
    writeFileSync(`${file}.gz`, await promisify(gzip)(text, { level: 9 }));
    files += 1;
    bytes += compressed.length;
  }
  return { files, kB: Math.round(bytes / 1000) };
}
