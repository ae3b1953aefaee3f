import { hash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { build } from 'vite';
import { writeTownMap } from './town-map.ts';
import { writeWorldMap } from './world-map.ts';

const ROOT = join(import.meta.dirname, '..');
const COMPRESSIBLE = new Set(['.html', '.js', '.css', '.svg', '.json', '.webmanifest']);

/**
 * `npm run build -w @outrider/console`: builds the page, the maps of the world and of the demo's town, and a compressed
 * copy of each file.
 */
// Settings of a test environment must not change the build.
process.env.NODE_ENV = 'production';
// Builds into a separate folder first, so that two builds at once, or a killed one, never leave an incomplete console.
const dist = join(ROOT, `dist-${process.pid}`);
process.once('exit', () => rmSync(dist, { recursive: true, force: true }));
await build({ root: ROOT, configFile: join(ROOT, 'vite.config.ts'), logLevel: 'warn', build: { outDir: dist } });
listKeptFiles(dist);
copyFontLicences(dist);
const { tiles } = writeWorldMap(join(dist, 'maps/world.mbtiles'));
// In a separate folder, as only the demo shows this map.
writeTownMap(join(dist, 'demo/town.mbtiles'));
const sizes = await compressFiles(dist);
replaceFolder(join(ROOT, 'dist'), dist);
process.stdout.write(`console built: ${sizes.files} files, ${sizes.kB} kB compressed; ${tiles} tiles of the world\n`);

/** The licences of the fonts require that they are distributed with them. */
function copyFontLicences(directory: string): void {
  mkdirSync(join(directory, 'licenses'));
  for (const font of ['inter', 'noto-sans-hebrew']) {
    const licence = createRequire(import.meta.url).resolve(`@fontsource-variable/${font}/LICENSE`);
    copyFileSync(licence, join(directory, `licenses/${font}.txt`));
  }
}

/** Replaces `folder` with `by`. When several processes do so, the last one wins. */
function replaceFolder(folder: string, by: string): void {
  const former = `${by}-former`;
  for (let tries = 0; ; tries++) {
    try {
      if (existsSync(folder)) renameSync(folder, former);
      renameSync(by, folder);
      break;
    } catch (error) {
      // Another process created the folder between the two renames.
      if (tries === 10) throw error;
    } finally {
      rmSync(former, { recursive: true, force: true });
    }
  }
}

/** Writes into the service worker which files it caches: those with a hash in their name, and the icons. */
function listKeptFiles(directory: string): void {
  const worker = join(directory, 'sw.js');
  const files = ['assets', 'icons']
    .flatMap((folder) => readdirSync(join(directory, folder)).map((name) => `/${folder}/${name}`))
    .concat('/favicon.svg', '/manifest.webmanifest')
    .sort();
  const contents = [...files, '/index.html'].map((file) => hash('sha256', readFileSync(join(directory, file))));
  const text = readFileSync(worker, 'utf8');
  const filled = text
    .replace('__VERSION__', hash('sha256', contents.join()).slice(0, 16))
    // The minifier chooses the quotes.
    .replace(/(["'`])__FILES__\1/, JSON.stringify(JSON.stringify(files)));
  if (filled.includes('__FILES__') || filled === text) throw new Error(`${worker} has no place for the list of files`);
  writeFileSync(worker, filled);
}

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
