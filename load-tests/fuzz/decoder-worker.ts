import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';
import { createRandom, type Random } from '@outrider/simulator';
import { judgeCost, measured } from './cost.ts';
import { Coverage } from './coverage.ts';
import { minimise } from './minimise.ts';
import { mutate, noise } from './mutate.ts';
import type { Outcome, Target } from './target.ts';
import { loadTarget } from './targets/targets.ts';

/** What a thread of decoders is to do. */
export interface DecoderTask {
  target: string;
  seed: number;
  /** How long, or {@link input} once. */
  forMs: number;
  /** How many inputs, in place of a time; see {@link exploreFast}. */
  inputs?: number;
  input: Uint8Array | null;
  /** The present input, for the main thread if this one gets stuck: its length in 4 bytes, then its bytes. */
  current: SharedArrayBuffer;
}

export type DecoderReport =
  | {
      type: 'progress';
      inputs: number;
      accepted: number;
      refused: number;
      cpuMs: number;
      heapBytes: number;
      kept: number;
      blocks: number;
      /** By how much the heap was larger at the end than after the warm-up, each after a collection. */
      retainedBytes?: number;
    }
  | { type: 'finding'; message: string; input: Uint8Array }
  | { type: 'loaded' }
  | { type: 'done' };

/**
 * Of one thread's inputs, those that are looked at together: which of them went a new way is asked only where one did.
 */
const BATCH = 256;
const MOST_KEPT = 400;
const MINIMISE_MS = 5000;
/** Of a given number of inputs, the first of these are explored with coverage, … */
const EXPLORED_PART = 0.01;
const LEAST_EXPLORED = 2048;
/** … and of the others, one in so many is measured. */
const MEASURED = 16;
const NEW_SEEDS_AFTER = 256;
/** What a target may keep, however many inputs it took. */
const RETAINED_BYTES = 16 * 1024 * 1024;
/** Reports of the same message are one finding; of different ones, as many as anyone reads. */
const MOST_FINDINGS = 8;

const task = workerData as DecoderTask;
const port = parentPort;
if (port === null) throw new Error('this module runs in a worker thread only');
const report = (message: DecoderReport): void => port.postMessage(message);
const target: Target = await loadTarget(task.target);
const length = new Uint32Array(task.current, 0, 1);
const place = new Uint8Array(task.current, 4);
/** With what the most expensive input took, the first time it was tried. */
const counts = { inputs: 0, accepted: 0, refused: 0, cpuMs: 0, heapBytes: 0 };
const findings = new Set<string>();

report({ type: 'loaded' });
if (task.input) await once(Buffer.from(task.input));
else if (task.inputs !== undefined) await exploreFast(createRandom(task.seed), task.inputs);
else await explore(createRandom(task.seed), performance.now() + task.forMs, Number.POSITIVE_INFINITY);
report({ type: 'done' });

async function once(input: Buffer): Promise<void> {
  const taken = await attempt(input);
  if (typeof taken !== 'string') report({ type: 'finding', message: taken.wrong, input });
}

/**
 * Tries a number of inputs: the first with coverage, and mutations of what that kept without it, as V8 optimises no
 * function whose blocks it counts. Memory that stays in use is a finding.
 */
async function exploreFast(random: Random, inputs: number): Promise<void> {
  const explored = Math.min(inputs, Math.max(LEAST_EXPLORED, Math.round(inputs * EXPLORED_PART)));
  const { corpus, blocks } = await explore(random, Number.POSITIVE_INFINITY, explored);
  const heapAtFirst = retainedBytes();
  let seeds: Buffer[] = [];
  let last: Buffer = Buffer.alloc(0);
  const reportProgress = (more: { retainedBytes?: number } = {}): void =>
    report({ type: 'progress', ...counts, kept: corpus.length, blocks, ...more });
  const pick = (): Buffer => (corpus.length === 0 || random.next() < 0.25 ? random.pick(seeds) : random.pick(corpus));
  let reportedAt = performance.now();
  for (let nth = explored; nth < inputs; nth++) {
    if ((nth - explored) % NEW_SEEDS_AFTER === 0) {
      seeds = target.seeds(random);
      if (performance.now() - reportedAt > 500) {
        reportedAt = performance.now();
        reportProgress();
      }
    }
    last = random.next() < 0.03 ? noise(target.maxBytes, random) : mutate(pick(), pick(), target, random);
    await count(last, nth % MEASURED === 0 ? await attempt(last) : await attemptUnmeasured(last));
  }
  const grownBytes = Math.max(0, retainedBytes() - heapAtFirst);
  reportProgress({ retainedBytes: grownBytes });
  if (grownBytes > RETAINED_BYTES)
    report({ type: 'finding', message: `memory: ${inputs} inputs left ${grownBytes} bytes in use`, input: last });
}

/** What is in use after a collection. */
function retainedBytes(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  const { used_heap_size, external_memory } = getHeapStatistics();
  return used_heap_size + external_memory;
}

async function count(input: Buffer, taken: Outcome | { wrong: string }): Promise<void> {
  counts.inputs++;
  if (taken === 'accepted' || taken === 'refused') counts[taken]++;
  else await reportFinding(taken.wrong, input);
}

/** @returns the inputs that went new ways, and how many blocks ran */
async function explore(random: Random, until: number, most: number): Promise<{ corpus: Buffer[]; blocks: number }> {
  const coverage = new Coverage(target.covers);
  const corpus: Buffer[] = [];
  const reportProgress = (): void =>
    report({ type: 'progress', ...counts, kept: corpus.length, blocks: coverage.blocks });
  const pick = (): Buffer => {
    // Every few, an input made anew; of those that went a new way, the latest more often than the first.
    if (corpus.length === 0 || random.next() < 0.25) return random.pick(target.seeds(random));
    return corpus[Math.floor(corpus.length * Math.sqrt(random.next()))] ?? Buffer.alloc(0);
  };
  /**
   * Of inputs of which some go a way that none before them went, keeps those: halves are tried again until one is left.
   */
  const keepNewWays = async (inputs: readonly Buffer[]): Promise<void> => {
    const half = Math.ceil(inputs.length / 2);
    for (const part of [inputs.slice(0, half), inputs.slice(half)]) {
      for (const input of part) await attempt(input);
      const ways = coverage.fresh();
      if (ways.length === 0) continue;
      const [only] = part;
      if (only === undefined || part.length > 1) {
        // The batch will be followed by others that go the same way.
        if (coverage.isAffordable) await keepNewWays(part);
        continue;
      }
      coverage.know(ways);
      if (corpus.length >= MOST_KEPT) corpus.splice(Math.floor(random.next() * corpus.length), 1);
      corpus.push(only);
    }
  };

  await keepNewWays(target.seeds(random));
  let reportedAt = performance.now();
  while (performance.now() < until && counts.inputs < most) {
    const batch: Buffer[] = [];
    for (let i = 0; i < BATCH && performance.now() < until && counts.inputs < most; i++) {
      const input = random.next() < 0.03 ? noise(target.maxBytes, random) : mutate(pick(), pick(), target, random);
      batch.push(input);
      await count(input, await attempt(input));
      if (performance.now() - reportedAt < 500) continue;
      reportedAt = performance.now();
      reportProgress();
    }
    if (coverage.isAffordable && coverage.fresh().length > 0) await keepNewWays(batch);
  }
  reportProgress();
  coverage.close();
  return { corpus, blocks: coverage.blocks };
}

async function reportFinding(message: string, input: Buffer): Promise<void> {
  const kind = kindOf(message);
  if (findings.has(kind) || findings.size >= MOST_FINDINGS) return;
  findings.add(kind);
  const wrong = async (candidate: Buffer): Promise<string> => {
    const taken = await attempt(candidate);
    return typeof taken === 'string' ? '' : taken.wrong;
  };
  const least = await minimise(input, async (candidate) => kindOf(await wrong(candidate)) === kind, MINIMISE_MS);
  report({ type: 'finding', message: (await wrong(least)) || message, input: least });
}

/** A message without its numbers and quotations: two inputs with the same one have found the same thing. */
function kindOf(message: string): string {
  return (message.split('\n', 1)[0] ?? '').replaceAll(/"[^"]*"|[-\d.e+]+/g, '#').slice(0, 60);
}

/** The same without its cost. */
async function attemptUnmeasured(input: Buffer): Promise<Outcome | { wrong: string }> {
  place.set(input.subarray(0, place.length));
  length[0] = Math.min(input.length, place.length);
  try {
    return await target.run(input);
  } catch (error) {
    return wrongOf(error);
  }
}

function wrongOf(error: unknown): { wrong: string } {
  return { wrong: error instanceof Error ? `${error.message}\n${error.stack ?? ''}` : `it throws ${String(error)}` };
}

/** Gives the target an input. @returns how it was taken, or what is wrong with that */
async function attempt(input: Buffer): Promise<Outcome | { wrong: string }> {
  place.set(input.subarray(0, place.length));
  length[0] = Math.min(input.length, place.length);
  try {
    const run = () => measured(() => target.run(input));
    const { result, cost } = await run();
    counts.cpuMs = Math.max(counts.cpuMs, cost.cpuMs);
    counts.heapBytes = Math.max(counts.heapBytes, cost.heapBytes);
    const wrong = await judgeCost(cost, input.length, async () => (await run()).cost);
    return wrong === null ? result : { wrong };
  } catch (error) {
    return wrongOf(error);
  }
}
