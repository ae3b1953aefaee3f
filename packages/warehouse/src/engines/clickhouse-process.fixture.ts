import { dlopen, getRawPointer, toString as textAt } from 'node:ffi';
import { closeSync, constants, mkdirSync, openSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';

/*
 * ClickHouse's own HTTP server as a process: npm's chdb brings it in its native library, and starts it by a statement,
 * for as long as the program that gave the statement runs. Arguments: the configuration file, and the folder of its
 * data.
 */
const [configFile = '', folder = ''] = process.argv.slice(2);
/** The program's last statement reads this pipe, and so runs until the pipe is closed. */
const pipe = join(folder, 'running');

/** Longer than any query of a test. */
const END_TIMEOUT_MS = 20_000;

if (isMainThread) {
  mkdirSync(folder, { recursive: true });
  rmSync(pipe, { force: true });
  const { functions: libc } = dlopen(null, {
    mkfifo: { return: 'int32', arguments: ['string', 'uint32'] },
    _exit: { return: 'void', arguments: ['int32'] },
  });
  if (libc.mkfifo(pipe, 0o600) !== 0) throw new Error(`cannot make the pipe ${pipe}`);
  // For reading as well: opening a pipe for writing alone waits for its reader.
  const holding = openSync(pipe, constants.O_RDWR);
  // The library's call returns when the server has ended: it has a thread of its own, and this one takes the signals.
  const worker = new Worker(new URL(import.meta.url), { argv: [configFile, folder] });
  worker.once('message', (error: string) => {
    if (error !== '') console.error(error);
    // At once: the library's destructors fail in a process that loaded it late.
    libc._exit(error === '' ? 0 : 1);
  });
  let isEnding = false;
  const end = () => {
    if (isEnding) return;
    isEnding = true;
    closeSync(holding);
    // A program that had not opened the pipe by then waits for a writer.
    setTimeout(() => libc._exit(1), END_TIMEOUT_MS);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, end);
  // A test that is killed leaves no server behind.
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && end(), 1000);
} else parentPort?.postMessage(runProgram());

/** @returns the error that it ended with; empty where it ended in order */
function runProgram(): string {
  const platform = `${process.platform}-${process.arch}${process.platform === 'linux' ? '-gnu' : ''}`;
  const ofChdb = createRequire(createRequire(import.meta.url).resolve('chdb/package.json'));
  const { functions: chdb } = dlopen(ofChdb.resolve(`@chdb/lib-${platform}/libchdb.so`), {
    chdb_query_cmdline: { return: 'pointer', arguments: ['int32', 'buffer'] },
    chdb_result_error: { return: 'pointer', arguments: ['pointer'] },
  });
  const program = ['SYSTEM START LISTEN HTTP', `SELECT count() FROM file('${pipe}', LineAsString)`];
  const words = ['clickhouse', `--config-file=${configFile}`, `--path=${folder}`, `--query=${program.join(';')}`];
  const texts = words.map((word) => Buffer.from(`${word}\0`));
  const pointers = Buffer.alloc(8 * texts.length);
  for (const [nth, text] of texts.entries()) pointers.writeBigUInt64LE(getRawPointer(text), 8 * nth);
  const error = chdb.chdb_result_error(chdb.chdb_query_cmdline(texts.length, pointers));
  return error === 0n ? '' : (textAt(error) ?? '');
}
