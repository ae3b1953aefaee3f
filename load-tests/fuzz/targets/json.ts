import type { TerminalId } from '@outrider/domain';
import {
  flespi,
  mqttJson,
  owntracks,
  type RefusedReports,
  type TerminalReports,
  type TopicMessage,
} from '@outrider/protocols';
import { checkPositions, somePosition } from '../positions.ts';
import { claim, type Outcome, type Target } from '../target.ts';

const NOW_MS = Date.UTC(2026, 0, 1);
const TERMINAL = 'van-1' as TerminalId;

const WORDS = [
  '"_type":"location"',
  '"_type":"transition"',
  '"_type":"encrypted"',
  '"_type":"lwt"',
  '"tst":1e99',
  '"lat":-0',
  '"topic":"owntracks/a/b"',
  '"ident":"',
  '"timestamp":"2026-01-01T00:00:00Z"',
  '"position.latitude":91',
  '"sos.event":true',
  '"din":4294967295',
  '"temperature.99":1',
  '"fixTime":0',
  '"alarms":["sos"]',
  '"attributes":{"__proto__":1}',
  '"__proto__":',
  'null',
  'true',
  '[]',
  '{}',
  '-1e308',
  '\\ud800',
  '\n',
].map((text) => Buffer.from(text));

/** A topic or a header, a line feed, and JSON. */
function splitInput(input: Buffer): TopicMessage {
  const end = input.indexOf(0x0a);
  return { topic: input.subarray(0, Math.max(0, end)).toString('utf8'), payload: input.subarray(end + 1) };
}

function check(name: string, read: TerminalReports | RefusedReports): Outcome {
  if ('refused' in read) {
    claim(read.status >= 400 && read.status < 500, () => `refused with status ${read.status}`);
    claim(read.detail !== '' && read.detail.length < 500, () => `a detail of ${read.detail.length} characters`);
    return 'refused';
  }
  claim((read.unread ?? []).length <= 100, () => 'too many refusals of one message');
  for (const { terminalId, otherIds = [], positions } of read.reports) {
    for (const id of [terminalId, ...otherIds])
      claim(/^[\x21-\x7e]{1,64}$/.test(id), () => `the id ${JSON.stringify(id)}`);
    claim(positions.length <= 1000, () => `${positions.length} positions in a report`);
    checkPositions(name, terminalId, positions);
  }
  return read.reports.length === 0 ? 'refused' : 'accepted';
}

/** The JSON of platforms and apps, by HTTP and by a broker. */
export const jsonTargets: readonly Target[] = [owntracks, flespi, mqttJson].map((protocol) => ({
  name: `decoder ${protocol.name}`,
  covers: [`/protocols/src/${protocol.name}/`, '/protocols/src/json-input.ts'],
  words: WORDS,
  maxBytes: 16 * 1024,
  seeds(random) {
    const messages = [1, 2].map(() => protocol.topics.encode(TERMINAL, somePosition(random)));
    const [one, two] = messages.map(({ payload }) => payload.toString('utf8'));
    const topic = messages[0]?.topic ?? '';
    return [`${topic}\n${one}`, `${topic}\n[${one},${two}]`].map((text) => Buffer.from(text));
  },
  run(input) {
    const { topic, payload } = splitInput(input);
    const published = check(protocol.name, protocol.topics.decode({ topic, payload }, NOW_MS));
    if (!('decode' in protocol)) return published;
    const headers = { authorization: topic, 'x-limit-u': topic };
    return check(protocol.name, protocol.decode({ method: 'POST', url: `/?${topic}`, headers, body: payload }, NOW_MS));
  },
}));
