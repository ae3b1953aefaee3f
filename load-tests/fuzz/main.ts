import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { renderTable } from '../bench/table.ts';
import { countDecoders, fuzzDecoders, replayDecoder } from './decoders.ts';
import { type Finding, readFinding, type Tally, writeFinding } from './finding.ts';
import { fuzzService, minimiseConversations, replayConversations } from './service/run.ts';
import { targetNames } from './targets/targets.ts';

/** For a machine that has nothing else to do by night. */
const NIGHTLY_MINUTES = 120;

const USAGE = `npm run fuzz [-- --minutes N] [--seed N] [--only TEXT] [--findings FOLDER]
npm run fuzz -- --inputs N [--target PROTOCOL] [--seed N] [--findings FOLDER]
npm run fuzz -- --nightly [--only TEXT] [--findings FOLDER]
npm run fuzz -- --replay FILE

Half of the time (10 minutes) goes to the pure code that reads what peers write, half to the ports of a running service. --only takes
the targets whose name holds the text; "service" is the second half. --inputs tries so many of the decoder of a protocol, or of each:
the first 1 % with coverage, and mutations of what that kept without it, which is much faster. An input must not
take more processor time or memory than one of its length may: what goes over that is tried again before it is a finding. A finding is
written to a file that --replay tries again. --nightly takes ${NIGHTLY_MINUTES} minutes and a new seed each time, and prints how to repeat it.`;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string' },
    nightly: { type: 'boolean', default: false },
    seed: { type: 'string' },
    only: { type: 'string', default: '' },
    inputs: { type: 'string' },
    target: { type: 'string' },
    findings: { type: 'string', default: 'fuzz-findings' },
    replay: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  },
});
if (values.help) {
  console.log(USAGE);
  process.exit(0);
}
if (values.replay !== undefined) process.exit(await replay(values.replay));

const minutes = Number(values.minutes ?? (values.nightly ? NIGHTLY_MINUTES : 10));
const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed);
if (!(minutes > 0) || !Number.isSafeInteger(seed)) {
  console.error(USAGE);
  process.exit(1);
}
console.log(`seed ${seed}`);
if (values.nightly) console.log(`again: npm run fuzz -- --minutes ${minutes} --seed ${seed}`);

let line = '';
const say = (progress: string): void => {
  // On a terminal, one line that is overwritten; in a file, a line now and then.
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${progress.slice(0, (process.stderr.columns ?? 100) - 1)}`);
  else if (progress.split(':', 1)[0] !== line) console.error(progress);
  line = progress.split(':', 1)[0] ?? '';
};

const forMs = minutes * 60_000;
const inputs = values.inputs === undefined ? null : Number(values.inputs);
const targets = targetNames.filter((name) =>
  inputs === null
    ? name.includes(values.only)
    : values.target === undefined
      ? name.startsWith('decoder ')
      : name === values.target || name === `decoder ${values.target}`,
);
if (inputs !== null && (!(inputs >= 1) || targets.length === 0)) {
  console.error(USAGE);
  process.exit(1);
}
const withService = inputs === null && 'service'.includes(values.only);
const share = targets.length === 0 || !withService ? 1 : 0.5;
const tallies: Tally[] = [];
const findings: Finding[] = [];
if (targets.length > 0) {
  const pure =
    inputs === null
      ? await fuzzDecoders(targets, seed, forMs * share, say)
      : await countDecoders(targets, seed, inputs, say);
  tallies.push(...pure.tallies);
  findings.push(...pure.findings);
}
let facts: [string, string][] = [];
if (withService) {
  const service = await fuzzService(seed, forMs * share, say);
  tallies.push(...service.tallies);
  findings.push(...service.findings);
  facts = service.facts;
}
if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');

const columns = ['target', 'inputs', 'inputs/s', 'accepted', 'refused', 'findings', 'note'];
const rows = tallies.map(({ target, inputs, seconds, accepted, refused, findings: found, note }) => [
  target,
  inputs,
  Math.round(inputs / seconds),
  accepted,
  refused,
  found,
  note,
]);
console.log(
  `\n${renderTable({ title: `Fuzzed ${inputs === null ? `for ${minutes} minutes` : `with ${inputs} inputs each`}, seed ${seed}`, columns, rows })}`,
);
if (facts.length > 0)
  console.log(`\n${renderTable({ title: 'The service', columns: ['what', 'value'], rows: facts })}`);

for (const [index, finding] of findings.entries()) {
  const least = await smaller(finding);
  const file = await writeFinding(values.findings, index + 1, seed, least);
  console.log(
    `\n✗ ${least.target}: ${least.message.split('\n', 4).join('\n  ').slice(0, 1200)}\n  npm run fuzz -- --replay ${file}`,
  );
}
console.log(`\n${findings.length} findings`);
process.exit(findings.length === 0 ? 0 : 1);

/** What ended a service, or shut others out, takes a service for each try: only few of them are spent on it. */
async function smaller(finding: Finding): Promise<Finding> {
  if (!('conversations' in finding.input) || finding.input.conversations.length < 2) return finding;
  const kind = ['the process ended', 'an honest client', 'it said an error'].find((text) =>
    finding.message.startsWith(text),
  );
  if (kind === undefined) return finding;
  say(`making a finding smaller: ${finding.message.slice(0, 80)}`);
  const isSame = (seen: readonly string[]): boolean =>
    seen.some((text) => text.startsWith(kind) || (kind === 'an honest client' && !text.startsWith('answered')));
  const conversations = await minimiseConversations(finding.input.conversations, isSame, 14);
  return { ...finding, input: { conversations } };
}

/** @returns the exit code */
async function replay(file: string): Promise<number> {
  const { target, message, input } = await readFinding(file);
  console.log(`${target}: ${message.split('\n', 1)[0]}`);
  const seen =
    'bytes' in input
      ? (await replayDecoder(target, Buffer.from(input.bytes, 'base64'))).map((finding) => finding.message)
      : await replayConversations(input.conversations);
  for (const text of seen) console.log(`✗ ${text}`);
  if (seen.length === 0) console.log('✓ nothing is wrong with how it is taken');
  return seen.length === 0 ? 0 : 1;
}
