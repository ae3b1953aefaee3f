import type { TerminalId } from '@outrider/domain';
import { parseJson, quote, refused, terminalIdOf } from '../json-input.ts';
import type { TopicProtocol } from '../protocol.ts';
import { encodePosition, readPositions } from './message.ts';

export const mqttJson = {
  name: 'mqtt-json',
  title: 'MQTT JSON',
  acknowledgement: '`PUBACK`',
  secret: null,
  help: 'Publish to `outrider/<terminal id>/position` at the broker of `MQTT_URL`, QoS 1, a JSON object such as `{"fixTime":"2026-01-15T12:00:00Z","latitude":52.37,"longitude":4.89,"speedKmh":40}`.',
  exampleId: (number) => `mqtt-demo-${number}` as TerminalId,
  topics: {
    filter: 'outrider/+/position',
    decode({ topic, payload }, nowMs) {
      const levels = topic.split('/');
      const name = levels.at(-2);
      const terminalId = terminalIdOf(name);
      if (levels.at(-1) !== 'position' || terminalId === null)
        return refused('not-identified', `${quote(topic)} does not end with an identifier and position`);
      // An empty message clears the topic's retained message.
      if (payload.length === 0) return { reports: [] };
      const json = parseJson(payload);
      if ('refused' in json) return json;
      const positions = readPositions(json.value, nowMs);
      return 'refused' in positions ? positions : { reports: [{ terminalId, positions }] };
    },
    encode: (terminalId, position) => ({
      topic: `outrider/${terminalId}/position`,
      payload: Buffer.from(encodePosition(position)),
    }),
  },
} satisfies TopicProtocol<'mqtt-json'>;
