import type { TerminalId } from '@outrider/domain';
import { basicOf } from '../credentials.ts';
import { parseJson, refused } from '../json-input.ts';
import type { HttpProtocol, TopicSide } from '../protocol.ts';
import { encodeOwntracks, readOwntracks, senderOf } from './message.ts';

const topics: TopicSide = {
  filter: 'owntracks/#',
  decode({ topic, payload }, nowMs) {
    // An empty message clears the topic's retained message.
    if (payload.length === 0) return { reports: [] };
    const json = parseJson(payload);
    return 'refused' in json ? json : readOwntracks(json.value, senderOf(topic), nowMs);
  },
  encode: (terminalId, position) => ({
    topic: `owntracks/${terminalId}`,
    payload: Buffer.from(encodeOwntracks(terminalId, position)),
  }),
};

export const owntracks = {
  name: 'owntracks',
  title: 'OwnTracks (HTTP, MQTT)',
  settingPrefix: 'OWNTRACKS',
  defaultPort: 5144,
  acknowledgement: 'status 200 with `[]`; `PUBACK`',
  secret: 'the password of the app, in mode HTTP',
  help: 'The terminal id is user and device of the app: `<user>/<device>`. In mode HTTP, the URL is `http://` and this address. In mode MQTT, the broker is that of `MQTT_URL`. Encryption off.',
  exampleId: (number) => `demo/phone-${number}` as TerminalId,
  maxBodyBytes: 64 * 1024,
  answer: '[]',
  decode({ method, url, headers, body }, nowMs) {
    if (method !== 'POST') return refused('unsupported', 'OwnTracks posts', 405);
    const json = parseJson(body);
    if ('refused' in json) return json;
    const question = url.indexOf('?');
    const query = new URLSearchParams(question === -1 ? '' : url.slice(question + 1));
    const basic = basicOf(headers.authorization);
    const user = headers['x-limit-u'] ?? query.get('u') ?? null;
    const device = headers['x-limit-d'] ?? query.get('d') ?? null;
    const read = readOwntracks(json.value, { user, device }, nowMs);
    return 'refused' in read || basic === null ? read : { ...read, secret: basic.password };
  },
  encode: (terminalId, position) => ({
    method: 'POST',
    url: '/',
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(encodeOwntracks(terminalId, position)),
  }),
  topics,
} satisfies HttpProtocol<'owntracks'>;
