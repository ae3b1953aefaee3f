import type { TerminalId } from '@outrider/domain';
import { parseJson, refused } from '../json-input.ts';
import type { HttpProtocol, TopicSide } from '../protocol.ts';
import { encodeMessage, readMessages } from './message.ts';

const topics: TopicSide = {
  filter: 'flespi/message/gw/devices/#',
  decode({ payload }, nowMs) {
    const json = parseJson(payload);
    return 'refused' in json ? json : readMessages(json.value, nowMs);
  },
  encode: (terminalId, position) => ({
    topic: `flespi/message/gw/devices/${terminalId}`,
    payload: Buffer.from(JSON.stringify(encodeMessage(terminalId, position))),
  }),
};

export const flespi = {
  name: 'flespi',
  title: 'flespi (HTTP, MQTT)',
  settingPrefix: 'FLESPI',
  defaultPort: 5149,
  acknowledgement: 'status 200; `PUBACK`',
  secret: '`Authorization: FlespiToken` or `Bearer`, over HTTP',
  help: 'The terminal id is the `ident` of the message. In flespi: a stream of type `http` whose URI is `http://` and this address, for all devices at once. With `FLESPI_TOKEN`, add a header `Authorization: Bearer <token>`. Over MQTT, the broker is that of `MQTT_URL`.',
  exampleId: (number) => `flespi-demo-${number}` as TerminalId,
  maxBodyBytes: 8 * 1024 * 1024,
  carriesMany: true,
  decode({ method, headers, body }, nowMs) {
    if (method !== 'POST' && method !== 'PUT') return refused('unsupported', 'flespi posts', 405);
    const json = parseJson(body);
    if ('refused' in json) return json;
    const read = readMessages(json.value, nowMs);
    const token = /^(?:Bearer|FlespiToken) (\S+)$/i.exec(headers.authorization ?? '')?.[1];
    return token === undefined ? read : { ...read, secret: token };
  },
  encode: (terminalId, position) => ({
    method: 'POST',
    url: '/',
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify([encodeMessage(terminalId, position)])),
  }),
  topics,
} satisfies HttpProtocol<'flespi'>;
