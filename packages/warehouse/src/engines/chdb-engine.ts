import { createReadStream } from 'node:fs';
import { open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';
import type { Owner } from '@outrider/domain';
import { blockStructure, blocksChunks } from '../native/block.ts';
import {
  type Engine,
  FILE_SETTINGS,
  INSERT_SETTINGS,
  limitError,
  limitedSql,
  type Parameter,
  structureOf,
} from './engine.ts';

/** One statement for chDB. */
export interface ChdbStatement {
  sql: string;
  parameters?: Readonly<Record<string, Parameter>>;
  /** The queue of the statement: inserts, quick queries, reports, or health checks. */
  queue: 'write' | 'quick' | 'report' | 'probe';
  /** `log_comment` of the statement, by which it can be cancelled while it runs. */
  name?: string;
  /** Account whose turn the statement takes. Default: the service itself. */
  owner?: Owner;
  signal?: AbortSignal | undefined;
}

/** A result in JSONCompact: its bytes, or a file in the spool that the caller has to remove. */
export type ChdbResult = Uint8Array | { file: string };

/** Executes statements on chDB, in this process or another. */
export interface ChdbStatements {
  /** Folder for input and output files of chDB. */
  readonly spool: string;
  run(statement: ChdbStatement): Promise<ChdbResult>;
}

/** Implements the engine on chDB. Blocks, files and rows are encoded and decoded in the calling thread. */
export function chdbEngine({ spool, run }: ChdbStatements): Omit<Engine, 'close'> {
  const insertSettings = Object.entries(INSERT_SETTINGS).map(([name, value]) => `${name} = ${value}`);
  let lastName = 0;
  const nextName = () => `${process.pid}-${threadId}-${++lastName}`;

  return {
    async insert(table, ...blocks) {
      const block = blocks.find(({ rows }) => rows > 0);
      if (block === undefined) return;
      const file = join(spool, `${nextName()}.native`);
      try {
        const handle = await open(file, 'wx');
        try {
          await writeAll(handle, blocksChunks(blocks));
        } finally {
          await handle.close();
        }
        const names = block.columns.map((column) => `\`${column.name}\``).join(', ');
        const sql = `INSERT INTO ${table} (${names}) SETTINGS ${insertSettings.join(', ')}
          SELECT ${names} FROM file(${literal(file)}, Native, ${literal(blockStructure(block))})`;
        await run({ sql, queue: 'write' });
      } finally {
        await rm(file, { force: true });
      }
    },

    async select(statement) {
      const { parameters, signal, owner, queue = 'quick' } = statement;
      const name = nextName();
      const sql = `${limitedSql(statement)}, log_comment = '${name}'`;
      const result = await run({ sql, parameters, queue, name, signal, ...(owner && { owner }) });
      return (JSON.parse(await textOf(result)) as Rows).data;
    },

    async *file({ format, columns, lines, owner, signal }) {
      const name = join(spool, nextName());
      const [from, to] = [`${name}.jsonl`, `${name}.file`];
      try {
        const handle = await open(from, 'wx');
        try {
          for await (const text of lines) {
            signal?.throwIfAborted();
            await handle.appendFile(text);
          }
        } finally {
          await handle.close();
        }
        const settings = Object.entries(FILE_SETTINGS).map(([key, value]) => `${key} = ${setting(value)}`);
        const sql = `INSERT INTO FUNCTION file(${literal(to)}, ${format}) SELECT * FROM
          file(${literal(from)}, JSONCompactEachRow, ${literal(structureOf(columns))}) SETTINGS ${settings.join(', ')}`;
        await run({ sql, queue: 'report', signal, ...(owner && { owner }) });
        await rm(from);
        for await (const chunk of createReadStream(to)) {
          signal?.throwIfAborted();
          yield chunk as Buffer;
        }
      } catch (error) {
        signal?.throwIfAborted();
        throw limitError(error);
      } finally {
        await rm(from, { force: true });
        await rm(to, { force: true });
      }
    },

    async execute(sql) {
      await run({ sql, queue: 'write' });
    },

    async ping() {
      await run({ sql: 'SELECT 1', queue: 'probe' });
    },
  };
}

interface Rows {
  data: unknown[][];
}

async function textOf(result: ChdbResult): Promise<string> {
  if (result instanceof Uint8Array) return Buffer.from(result.buffer, result.byteOffset, result.byteLength).toString();
  try {
    return await readFile(result.file, 'utf8');
  } finally {
    await rm(result.file, { force: true });
  }
}

// Well below the maximum number of buffers of one writev (IOV_MAX is 1024).
const PIECES_PER_WRITE = 512;

async function writeAll(
  file: { writev(pieces: Uint8Array[]): Promise<{ bytesWritten: number }> },
  chunks: Uint8Array[],
) {
  let pending = chunks;
  while (pending.length > 0) {
    let { bytesWritten } = await file.writev(pending.slice(0, PIECES_PER_WRITE));
    let done = 0;
    for (let piece = pending[done]; piece && bytesWritten >= piece.byteLength; piece = pending[done]) {
      bytesWritten -= piece.byteLength;
      done++;
    }
    const partial = pending[done];
    pending = pending.slice(done);
    if (partial && bytesWritten > 0) pending[0] = partial.subarray(bytesWritten);
  }
}

/** A setting's value as SQL. */
function setting(value: string | number): string {
  return typeof value === 'number' ? String(value) : literal(value);
}

/** A string literal of ClickHouse's SQL. */
function literal(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
