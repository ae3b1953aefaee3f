import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createRandom } from '@outrider/simulator';
import type { Finding, RecordedConversation, Tally } from '../finding.ts';
import { minimise } from '../minimise.ts';
import { type Arena, openArena, openSockets } from './arena.ts';
import { ATTACKS, type Attack, Attacks, type Credentials, HTTP_PORTS } from './attacks.ts';
import { type Conversation, converse, recorded, replayed } from './conversation.ts';
import { checkStored, MayBeStored } from './stored.ts';

const AT_A_TIME = 12;
/** The last conversations, which include the cause of a finding. */
const REMEMBERED = 60;
const MOST_RESTARTS = 3;
const PROBE_EVERY_MS = 250;
/**
 * The longest time that the main thread may be blocked; far above the usual, because the machine may be busy.
 */
export const STALL_MS = 5000;
/** Of a stall, what the service must have been at work for: else it was the machine that was away. */
const BUSY_SHARE = 0.6;
const SILENT_FOR_MS = 3000;
/** After the last connection was closed: longer than any time-out that one may have left behind. */
const QUIET_MS = 75_000;
const SPARE_SOCKETS = 10;
/** What caches, compiled code and ClickHouse may take beyond what there was after the first seconds. */
export const SPARE_MB = 400;
const MINIMISE_MS = 20_000;
const MOST_FINDINGS = 20;

/** Statuses of a failed service. 503 means that it is full, and is counted separately. */
const FAILED = /^HTTP\/1\.1 (5(?!03)\d\d)[^\r\n]*/m;

/**
 * Attacks a running service at all of its ports, while honest clients go on beside.
 *
 * @param say prints the progress
 */
export async function fuzzService(
  seed: number,
  forMs: number,
  say: (progress: string) => void,
): Promise<{ tallies: Tally[]; findings: Finding[]; facts: [string, string][] }> {
  const tallies = new Map<Attack, Tally>(
    ATTACKS.map((target) => [
      target,
      { target, inputs: 0, seconds: forMs / 1000, accepted: 0, refused: 0, note: '', findings: 0 },
    ]),
  );
  const findings: Finding[] = [];
  const facts: [string, string][] = [];
  let until = Number.POSITIVE_INFINITY;
  for (let round = 0; round <= MOST_RESTARTS && until - performance.now() > 3000; round++) {
    const arena = await openArena();
    if (round === 0) until = performance.now() + forMs;
    const battle = new Battle(arena, seed + 104_729 * round, until, tallies, findings);
    try {
      await battle.run(say);
    } finally {
      facts.push(...battle.facts);
      await battle.arena.clear();
    }
  }
  for (const finding of findings)
    for (const tally of tallies.values()) if (finding.target === tally.target) tally.findings++;
  return { tallies: [...tallies.values()], findings, facts };
}

class Battle {
  readonly arena: Arena;
  readonly facts: [string, string][] = [];
  readonly #seed: number;
  readonly #until: number;
  readonly #tallies: ReadonlyMap<Attack, Tally>;
  readonly #findings: Finding[];
  readonly #kinds = new Set<string>();
  readonly #attacks = new Attacks();
  readonly #may = new MayBeStored();
  readonly #last: Conversation[] = [];
  #credentials: Credentials = { dealerJwt: '', operatorJwt: '' };
  #over = false;
  #errorsSeen = 0;
  #goodRounds = 0;
  #longestProbeMs = 0;

  constructor(arena: Arena, seed: number, until: number, tallies: ReadonlyMap<Attack, Tally>, findings: Finding[]) {
    this.arena = arena;
    this.#seed = seed;
    this.#until = until;
    this.#tallies = tallies;
    this.#findings = findings;
  }

  get #isOver(): boolean {
    return this.#over || performance.now() >= this.#until || this.arena.end.said !== null;
  }

  async run(say: (progress: string) => void): Promise<void> {
    const { arena } = this;
    const { service, good } = arena;
    this.#credentials = await arena.credentials();
    // What is opened and cached with the first of everything is no leak; ClickHouse alone takes 300 MB with the first
    // statement, which an attack may cause late or never.
    await good.check();
    await good.readArchive();
    const warmUntil = performance.now() + Math.min(10_000, (this.#until - performance.now()) / 4);
    await this.#attack(warmUntil);
    await wait(2000);
    const before = { sockets: await openSockets(service.pid), mb: await service.residentMb() };

    const progressTimer = setInterval(() => say(this.#progress()), 2000);
    await Promise.all([
      this.#attack(this.#until),
      this.#watchGoodClients(),
      this.#watchStalls(),
      this.#renewCredentials(),
    ]);
    clearInterval(progressTimer);

    if (arena.end.said !== null) {
      this.#find('service', `the process ended: ${arena.end.said.slice(0, 3000)}`, this.#suspects());
      return;
    }
    say('sockets: waiting until all is quiet');
    await this.#becomesQuiet(before);
    this.#lookAtErrors();
    await this.#good();
    if (arena.end.said !== null) return;
    await this.#minimiseFailures(say);
    try {
      await arena.stop();
    } catch (error) {
      this.#find('service', `it does not stop well: ${(error as Error).message}`, []);
    }
    const { packets, wrong } = await checkStored(join(arena.folder, 'data'), good.acknowledged, this.#may);
    for (const text of wrong.slice(0, 3)) this.#find('service', text, []);
    this.facts.push(
      ['honest clients: rounds through all ports', String(this.#goodRounds)],
      ['honest positions acknowledged, all of them stored', String(good.acknowledged.length)],
      ['packets in the log, each held against what was sent', String(packets)],
      [`longest answer of GET /health/live, ms (a stall is ${STALL_MS})`, this.#longestProbeMs.toFixed(0)],
    );
  }

  #progress(): string {
    const total = [...this.#tallies.values()].reduce((sum, { inputs }) => sum + inputs, 0);
    return `sockets: ${total.toLocaleString('en-US')} conversations, ${this.#goodRounds} honest rounds, longest probe ${this.#longestProbeMs.toFixed(0)} ms`;
  }

  /** Many conversations at a time, of every kind in turn. */
  async #attack(until: number): Promise<void> {
    await Promise.all(
      Array.from({ length: AT_A_TIME }, async (_, worker) => {
        const random = createRandom(this.#seed * 31 + worker * 6151 + Math.floor(until));
        while (!this.#isOver && performance.now() < until) {
          const attack = random.pick(ATTACKS);
          await this.#talk(attack, this.#attacks.next(attack, this.#credentials, random));
        }
      }),
    );
  }

  async #talk(attack: Attack, conversation: Conversation): Promise<void> {
    this.#may.note(conversation);
    this.#last.push(conversation);
    if (this.#last.length > REMEMBERED) this.#last.shift();
    const answer = await this.#converse(conversation);
    const tally = this.#tallies.get(attack);
    if (!tally) return;
    tally.inputs++;
    if (answer === null || answer.length === 0) tally.refused++;
    else if (/^HTTP\/1\.1 [45]/.test(answer.toString('latin1', 0, 12))) tally.refused++;
    else tally.accepted++;
    if (attack === 'http by document' && answer !== null) this.#attacks.learn(conversation, answer);
    if (conversation.port !== 'http' && !HTTP_PORTS.has(conversation.port)) return;
    const failed = FAILED.exec(answer?.toString('latin1') ?? '');
    if (!failed) return;
    const asked = conversation.chunks[0]?.toString('latin1').split('\r\n', 1)[0]?.slice(0, 200) ?? '';
    const route = asked.split('?', 1)[0]?.replaceAll(/[\w-]{20,}/g, '…') ?? '';
    this.#find(attack, `answered ${failed[0]}: ${asked}`, [conversation], `${failed[1]} ${route}`);
  }

  #converse(conversation: Conversation): Promise<Buffer | null> {
    const { host, ports } = this.arena.service;
    return converse(host, ports[conversation.port as keyof typeof ports], conversation, SILENT_FOR_MS);
  }

  async #watchGoodClients(): Promise<void> {
    while (!this.#isOver) {
      await this.#good();
      this.#lookAtErrors();
      await wait(1000);
    }
  }

  async #good(): Promise<void> {
    const suspects = this.#suspects();
    try {
      await this.arena.good.check();
      this.#goodRounds++;
    } catch (error) {
      if (this.arena.end.said !== null) return;
      this.#find('service', `an honest client was let down: ${(error as Error).message}`, [
        ...suspects,
        ...this.#suspects(),
      ]);
      // One that goes on badly would say the same again and again.
      this.#over = true;
    }
  }

  #lookAtErrors(): void {
    const { errors } = this.arena;
    for (; this.#errorsSeen < errors.length; this.#errorsSeen++) {
      const line = errors[this.#errorsSeen] ?? '';
      const kind = messageOf(line);
      this.#find('service', `it said an error: ${line.slice(0, 3000)}`, this.#suspects(), kind);
    }
  }

  async #watchStalls(): Promise<void> {
    const { service } = this.arena;
    const url = `http://${service.host}:${service.ports.http}/health/live`;
    while (!this.#isOver) {
      const asked = performance.now();
      const cpuBefore = await service.cpuSeconds();
      await fetch(url).then(
        (answer) => answer.arrayBuffer(),
        () => {},
      );
      const tookMs = performance.now() - asked;
      this.#longestProbeMs = Math.max(this.#longestProbeMs, tookMs);
      const cpuAfter = await service.cpuSeconds();
      const busyMs = cpuBefore === null || cpuAfter === null ? tookMs : (cpuAfter - cpuBefore) * 1000;
      if (tookMs > STALL_MS && busyMs > BUSY_SHARE * tookMs)
        this.#find(
          'service',
          `a stall: GET /health/live took ${tookMs.toFixed(0)} ms, of which the service worked ${busyMs.toFixed(0)}`,
          this.#suspects(),
          'stall',
        );
      await wait(PROBE_EVERY_MS);
    }
  }

  async #renewCredentials(): Promise<void> {
    for (let second = 1; !this.#isOver; second++) {
      await wait(1000);
      if (second % 15 !== 0 || this.#isOver) continue;
      this.#credentials = await this.arena.credentials().catch(() => this.#credentials);
    }
  }

  /** Sockets and memory are to be what they were. */
  async #becomesQuiet(before: { sockets: number | null; mb: number | null }): Promise<void> {
    const { service } = this.arena;
    const quietUntil = performance.now() + QUIET_MS;
    let sockets = await openSockets(service.pid);
    const isTooMany = () => before.sockets !== null && sockets !== null && sockets > before.sockets + SPARE_SOCKETS;
    while (isTooMany() && performance.now() < quietUntil) {
      await wait(1000);
      sockets = await openSockets(service.pid);
    }
    if (isTooMany())
      this.#find(
        'service',
        `${sockets} sockets are open, ${before.sockets} were before, and nobody is connected`,
        this.#suspects(),
      );
    const mb = await service.residentMb();
    if (before.mb !== null && mb !== null && mb > before.mb + SPARE_MB)
      this.#find('service', `${mb} MB resident, ${before.mb} after the first seconds`, this.#suspects());
    this.facts.push(
      ['open sockets: after the first seconds, at the end', `${before.sockets ?? '–'}, ${sockets ?? '–'}`],
      [
        'resident memory, MB: after the first seconds, at the end, at most',
        `${before.mb ?? '–'}, ${mb ?? '–'}, ${(await service.peakResidentMb()) ?? '–'}`,
      ],
    );
  }

  /** What failed by one conversation, or among some, is tried again until the least of it is left. */
  async #minimiseFailures(say: (progress: string) => void): Promise<void> {
    for (const finding of this.#findings) {
      if (!('conversations' in finding.input) || this.arena.end.said !== null) continue;
      const kind = /^answered HTTP\/1\.1 (\d+)/.exec(finding.message)?.[1];
      const error = /^it said an error: (.*)/.exec(finding.message)?.[1];
      if (kind === undefined && error === undefined) continue;
      say(`making a finding smaller: ${finding.message.slice(0, 80)}`);
      const fails = async (candidate: Conversation): Promise<boolean> => {
        const errors = this.arena.errors.length;
        const answer = await this.#converse(candidate);
        if (kind !== undefined) return FAILED.exec(answer?.toString('latin1') ?? '')?.[1] === kind;
        await wait(100);
        return this.arena.errors.slice(errors).some((line) => messageOf(line) === messageOf(error ?? ''));
      };
      for (const conversation of finding.input.conversations.map(replayed).reverse()) {
        if (!(await fails(conversation))) continue;
        const whole = Buffer.concat([...conversation.chunks]);
        const once = { ...conversation, chunks: [whole] };
        const least = (await fails(once))
          ? [await minimise(whole, (bytes) => fails({ ...once, chunks: [bytes] }), MINIMISE_MS)]
          : conversation.chunks;
        finding.input = { conversations: [recorded({ ...conversation, chunks: least })] };
        break;
      }
    }
    this.#errorsSeen = this.arena.errors.length;
  }

  #suspects(): Conversation[] {
    return [...this.#last];
  }

  #find(target: string, message: string, conversations: readonly Conversation[], kind = message.slice(0, 60)): void {
    if (this.#kinds.has(kind) || this.#findings.length >= MOST_FINDINGS) return;
    this.#kinds.add(kind);
    this.#findings.push({ target, message, input: { conversations: conversations.map(recorded) } });
  }
}

/** What a line of the logger is about. */
function messageOf(line: string): string {
  try {
    const { msg, err } = JSON.parse(line) as { msg?: string; err?: { message?: string } };
    return `${msg} ${err?.message ?? ''}`.replaceAll(/[\d]+|"[^"]*"/g, '#').slice(0, 200);
  } catch {
    return line.slice(0, 60);
  }
}

/**
 * Has conversations with a fresh service again.
 * @returns the result: how the service ended, errors in its output, and answers with a status of failure
 */
export async function replayConversations(conversations: readonly RecordedConversation[]): Promise<string[]> {
  const arena = await openArena();
  const seen: string[] = [];
  try {
    for (const conversation of conversations.map(replayed)) {
      const { host, ports } = arena.service;
      const answer = await converse(host, ports[conversation.port as keyof typeof ports], conversation, SILENT_FOR_MS);
      const failed = FAILED.exec(answer?.toString('latin1') ?? '');
      if (failed) seen.push(`answered ${failed[0]}`);
    }
    await wait(1000);
    if (arena.end.said === null) await arena.good.check().catch((error: Error) => seen.push(error.message));
    if (arena.end.said !== null) seen.push(`the process ended: ${arena.end.said}`);
    seen.push(...arena.errors.map((line) => `it said an error: ${line}`));
  } finally {
    await arena.clear();
  }
  return seen;
}

/**
 * Of conversations after which a service ends, or lets honest clients down, those that it takes: halves are left out as
 * long as it still comes to that. Each try is a service of its own.
 */
export async function minimiseConversations(
  conversations: readonly RecordedConversation[],
  isSame: (seen: readonly string[]) => boolean,
  mostTries: number,
): Promise<readonly RecordedConversation[]> {
  let best = conversations;
  let tries = 0;
  for (let piece = Math.ceil(best.length / 2); piece >= 1; piece = piece === 1 ? 0 : Math.ceil(piece / 2))
    for (let at = 0; at < best.length; ) {
      if (tries++ >= mostTries) return best;
      const candidate = [...best.slice(0, at), ...best.slice(at + piece)];
      if (candidate.length > 0 && isSame(await replayConversations(candidate))) best = candidate;
      else at += piece;
    }
  return best;
}
