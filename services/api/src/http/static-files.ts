import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Context } from 'hono';
import type { ApiEnv } from '../context.ts';
import { isKnown } from './byte-range.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.jpg': 'image/jpeg',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.mp3': 'audio/mpeg',
  '.ogg': 'audio/ogg',
};
const COMPRESSIBLE: ReadonlySet<string> = new Set([
  '.html',
  '.css',
  '.js',
  '.json',
  '.webmanifest',
  '.svg',
  '.txt',
  '.wasm',
]);
/** Smaller files fit into one packet uncompressed. */
const COMPRESSED_FROM_BYTES = 1024;
/** Used if the build left no compressed file beside the original. */
const BROTLI_QUALITY = 9;

type Encoding = 'br' | 'gzip';
/** In order of preference: the smaller result first. */
const ENCODINGS: Readonly<Record<Encoding, { extension: string; compress: (bytes: Buffer) => Promise<Buffer> }>> = {
  br: {
    extension: '.br',
    compress: (bytes) =>
      promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  },
  gzip: { extension: '.gz', compress: (bytes) => promisify(gzip)(bytes, { level: 9 }) },
};

/** A file held in memory, with its compressed forms. */
export class StaticFile {
  readonly #bytes: Buffer;
  readonly #type: string;
  /** Computed when the file is first requested. */
  #tag: string | undefined;
  readonly #isCompressible: boolean;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #encoded = new Map<Encoding, Promise<Buffer>>();

  /**
   * @param name its extension decides the media type
   * @param headers of every response with this file
   * @param compressed forms made by a build; others are made when first requested
   */
  constructor(
    name: string,
    bytes: Buffer,
    headers: Readonly<Record<string, string>>,
    compressed: ReadonlyMap<Encoding, Buffer> = new Map(),
  ) {
    const extension = extname(name);
    this.#bytes = bytes;
    this.#type = TYPES[extension] ?? 'application/octet-stream';
    this.#isCompressible = COMPRESSIBLE.has(extension) && bytes.length >= COMPRESSED_FROM_BYTES;
    this.#headers = headers;
    for (const [encoding, encoded] of compressed) this.#encoded.set(encoding, Promise.resolve(encoded));
  }

  async reply(c: Context<ApiEnv>): Promise<Response> {
    const encoding = this.#isCompressible ? acceptedEncoding(c.req.header('accept-encoding')) : null;
    this.#tag ??= hash('sha256', this.#bytes).slice(0, 32);
    // Each encoding yields different bytes, so each has its own tag.
    const etag = encoding === null ? `"${this.#tag}"` : `"${this.#tag}-${encoding}"`;
    const headers = {
      ...this.#headers,
      etag,
      ...(this.#isCompressible ? { vary: 'Accept-Encoding' } : {}),
    };
    if (isKnown(c.req.header('if-none-match'), etag)) return c.body(null, 304, headers);
    const body = encoding === null ? this.#bytes : await this.#in(encoding);
    return c.body(body as Buffer<ArrayBuffer>, 200, {
      ...headers,
      'content-type': this.#type,
      'content-length': String(body.length),
      ...(encoding === null ? {} : { 'content-encoding': encoding }),
    });
  }

  #in(encoding: Encoding): Promise<Buffer> {
    let encoded = this.#encoded.get(encoding);
    if (encoded === undefined) {
      encoded = ENCODINGS[encoding].compress(this.#bytes);
      this.#encoded.set(encoding, encoded);
    }
    return encoded;
  }
}

/** Whether bytes that are gzipped already can be sent unchanged. */
export function acceptsGzip(header: string | undefined): boolean {
  return acceptedEncodings(header).has('gzip');
}

/**
 * Encoding of the response. Null: the client accepts only plain bytes.
 *
 * @param header `Accept-Encoding` (RFC 9110, 12.5.3); `*` is read as no preference for a compressed form
 */
export function acceptedEncoding(header: string | undefined): Encoding | null {
  const accepted = acceptedEncodings(header);
  return (Object.keys(ENCODINGS) as Encoding[]).find((encoding) => accepted.has(encoding)) ?? null;
}

function acceptedEncodings(header = ''): Set<string> {
  return new Set(
    header
      .split(',')
      .filter((part) => !/;\s*q\s*=\s*0(?:\.0*)?\s*$/.test(part))
      .map((part) => (part.split(';', 1)[0] ?? '').trim().toLowerCase()),
  );
}

/**
 * Reads the files below a folder whose type is in the table above, by their paths: `assets/app-5f2c8a3e.js`. Compressed
 * forms beside a file (`.br`, `.gz`) belong to it. Other files, such as tile archives, are not read.
 *
 * @param headersOf headers of the responses with a file
 * @throws {Error} when the folder can't be read
 */
export function readStaticFiles(
  folder: string,
  headersOf: (path: string) => Readonly<Record<string, string>>,
): Map<string, StaticFile> {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const known = new Set(paths);
  const files = new Map<string, StaticFile>();
  for (const path of paths) {
    if (TYPES[extname(path)] === undefined) continue;
    const name = path.slice(join(folder, '/').length).replaceAll('\\', '/');
    const compressed = new Map<Encoding, Buffer>();
    for (const [encoding, { extension }] of Object.entries(ENCODINGS))
      if (known.has(path + extension)) compressed.set(encoding as Encoding, readFileSync(path + extension));
    files.set(name, new StaticFile(name, readFileSync(path), headersOf(name), compressed));
  }
  return files;
}
