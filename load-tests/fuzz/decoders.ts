import { Worker } from 'node:worker_threads';
import { createRandom } from '@outrider/simulator';
import type { DecoderReport, DecoderTask } from './decoder-worker.ts';
import type { Finding, Tally } from './finding.ts';

/** Longest time for an input of a few kilobytes; generous, because the machine may be busy. */
const STUCK_MS = 20_000;
/** Until a thread has loaded its target, no input can be stuck; a busy machine takes its time. */
const LOADED_WITHIN_MS = 120_000;
const MOST_CURRENT_BYTES = 64 * 1024;
const MOST_HEAP_MB = 512;

/**
 * Fuzzes pure code, one target after the other, each in a thread of its own: one that hangs, or takes all memory, is
 * ended and leaves the input that it was busy with.
 *
 * @param say prints the progress
 */
export async function fuzzDecoders(
  targets: readonly string[],
  seed: number,
  forMs: number,
  say: (progress: string) => void,
): Promise<{ tallies: Tally[]; findings: Finding[] }> {
  const tallies: Tally[] = [];
  const findings: Finding[] = [];
  const until = performance.now() + forMs;
  for (const [index, name] of targets.entries()) {
    // Where threads took long to begin, the last ones get what they are due all the same.
    const shareMs = Math.max(forMs / targets.length / 2, (until - performance.now()) / (targets.length - index));
    const tally: Tally = { target: name, inputs: 0, seconds: 0, accepted: 0, refused: 0, note: '', findings: 0 };
    const most = { cpuMs: 0, heapBytes: 0 };
    const begun = performance.now();
    let round = 0;
    // A thread that had to be ended is followed by another, from a seed of its own.
    for (let left = shareMs; left > 250 && tally.findings < 10; left = shareMs - (performance.now() - begun)) {
      const threadSeed = Math.floor(createRandom(seed + 7919 * index + round++).next() * 2 ** 31);
      const before = { ...tally };
      const found = await runDecoder({ target: name, seed: threadSeed, forMs: left, input: null }, (progress) => {
        tally.inputs = before.inputs + progress.inputs;
        tally.accepted = before.accepted + progress.accepted;
        tally.refused = before.refused + progress.refused;
        most.cpuMs = Math.max(most.cpuMs, progress.cpuMs);
        most.heapBytes = Math.max(most.heapBytes, progress.heapBytes);
        const dearest = `${most.cpuMs.toFixed(1)} ms, ${megabytes(most.heapBytes)} MB at most`;
        tally.note = `${progress.kept} inputs kept, ${progress.blocks} blocks, ${dearest}`;
        say(`${name}: ${tally.inputs.toLocaleString('en-US')} inputs, ${tally.note}`);
      });
      findings.push(...found);
      tally.findings += found.length;
    }
    tally.seconds = (performance.now() - begun) / 1000;
    tallies.push(tally);
  }
  return { tallies, findings };
}

/**
 * Tries a number of inputs of each target, most of them without coverage; see `decoder-worker.ts`.
 *
 * @param say prints the progress
 */
export async function countDecoders(
  targets: readonly string[],
  seed: number,
  inputs: number,
  say: (progress: string) => void,
): Promise<{ tallies: Tally[]; findings: Finding[] }> {
  const tallies: Tally[] = [];
  const findings: Finding[] = [];
  for (const name of targets) {
    const tally: Tally = { target: name, inputs: 0, seconds: 0, accepted: 0, refused: 0, note: '', findings: 0 };
    const begun = performance.now();
    const found = await runDecoder({ target: name, seed, forMs: 0, inputs, input: null }, (progress) => {
      Object.assign(tally, { inputs: progress.inputs, accepted: progress.accepted, refused: progress.refused });
      const retained =
        progress.retainedBytes === undefined ? '' : `, ${megabytes(progress.retainedBytes)} MB left in use`;
      tally.note = `${progress.kept} inputs kept, ${progress.blocks} blocks, ${megabytes(progress.heapBytes)} MB at most${retained}`;
      say(`${name}: ${tally.inputs.toLocaleString('en-US')} inputs, ${tally.note}`);
    });
    findings.push(...found);
    tally.findings = found.length;
    tally.seconds = (performance.now() - begun) / 1000;
    tallies.push(tally);
  }
  return { tallies, findings };
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}

/** Tries one input again. @returns what is wrong with how it is taken */
export function replayDecoder(target: string, input: Buffer): Promise<Finding[]> {
  return runDecoder({ target, seed: 0, forMs: 0, input }, () => {});
}

type Progress = Extract<DecoderReport, { type: 'progress' }>;

async function runDecoder(task: Omit<DecoderTask, 'current'>, say: (progress: Progress) => void): Promise<Finding[]> {
  const findings: Finding[] = [];
  const current = new SharedArrayBuffer(4 + MOST_CURRENT_BYTES);
  const workerData: DecoderTask = { ...task, current };
  const thread = new Worker(new URL('./decoder-worker.ts', import.meta.url), {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: MOST_HEAP_MB },
  });
  const find = (message: string, input: Uint8Array): void =>
    void findings.push({ target: task.target, message, input: { bytes: Buffer.from(input).toString('base64') } });
  const currentInput = (): Buffer => Buffer.from(new Uint8Array(current, 4, new Uint32Array(current, 0, 1)[0]));
  await new Promise<void>((resolve, reject) => {
    let watchdog = setTimeout(() => {}, 0);
    const watch = (ms: number, what: string): void => {
      clearTimeout(watchdog);
      watchdog = setTimeout(() => {
        find(`stuck: ${what} for ${ms / 1000} s`, currentInput());
        void thread.terminate();
      }, ms);
    };
    watch(LOADED_WITHIN_MS, 'the target was not loaded');
    thread.on('message', (report: DecoderReport) => {
      watch(STUCK_MS, 'nothing came of this input');
      if (report.type === 'progress') say(report);
      else if (report.type === 'finding') find(report.message, report.input);
    });
    thread.on('error', (error: Error & { code?: string }) => {
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY')
        find(`memory: this input, or what came before it, takes more than ${MOST_HEAP_MB} MB`, currentInput());
      else reject(error);
    });
    thread.on('exit', () => {
      clearTimeout(watchdog);
      resolve();
    });
  });
  return findings;
}
