import { readFileSync } from 'node:fs';
import avsc from 'avsc';
import { expect, test } from 'vitest';
import { LOG_TOPIC_NAMES } from './dead-letters.ts';
import { LOG_TOPICS } from './topics.ts';
import { TOPICS_DOCUMENT, topicsDocument } from './topics-document.ts';

const text = readFileSync(TOPICS_DOCUMENT, 'utf8');
const document = JSON.parse(text) as {
  channels: Record<
    string,
    { address: string; parameters?: { topic: { enum: string[] } }; bindings: { kafka: { topicConfiguration: object } } }
  >;
  components: { messages: Record<string, { payload: { schema: avsc.Schema } }> };
};

test('schemas/topics.asyncapi.json is what the code says; `npm run openapi` writes it anew', () => {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  expect(text).toBe(topicsDocument(version));
});

test('it has every topic that services write to, those of dead letters too', () => {
  const names = Object.values(document.channels).flatMap(({ address, parameters }) =>
    (parameters?.topic.enum ?? ['']).map((topic) => address.replace('{topic}', topic)),
  );
  expect(names.toSorted()).toEqual(LOG_TOPIC_NAMES.toSorted());
  for (const { name, compacted } of LOG_TOPICS)
    expect(document.channels[name]?.bindings.kafka.topicConfiguration).toEqual({
      'cleanup.policy': [compacted ? 'compact' : 'delete'],
    });
});

test('its records are Avro schemas, and all of its references lead somewhere', () => {
  for (const { payload } of Object.values(document.components.messages))
    expect(() => avsc.Type.forSchema(payload.schema)).not.toThrow();
  const references = [...text.matchAll(/"\$ref": "#\/([^"]+)"/g)].map(([, path = '']) => path);
  expect(references.length).toBeGreaterThan(10);
  for (const path of references)
    expect([
      path,
      path.split('/').reduce<unknown>((at, key) => (at as Record<string, unknown>)?.[key], document),
    ]).toEqual([path, expect.any(Object)]);
});
