import { readFileSync } from 'node:fs';
import { deadTopicOf } from './dead-letters.ts';
import { LOG_TOPICS } from './topics.ts';

export const TOPICS_DOCUMENT = new URL('../../../schemas/topics.asyncapi.json', import.meta.url);

interface TopicFacts {
  summary: string;
  /** Name of its file in `schemas/`. */
  schema: string;
  key: string;
}

const OF_VEHICLE = 'Id of the vehicle: its records keep their order.';
const FACTS: Readonly<Record<string, TopicFacts>> = {
  telemetry: { summary: 'What terminals sent, packet by packet.', schema: 'telemetry', key: OF_VEHICLE },
  events: { summary: 'What the rules derived from it, as it came.', schema: 'event', key: OF_VEHICLE },
  late: {
    summary: 'Time ranges of the past that late data arrived for, to be calculated again.',
    schema: 'late',
    key: OF_VEHICLE,
  },
  'late-events': {
    summary: 'Events that became known by late data alone, for notifications. They are not in `events`.',
    schema: 'event',
    key: OF_VEHICLE,
  },
  corrections: {
    summary: 'What recalculations made of events: by the id of an event, the last one stands.',
    schema: 'correction',
    key: OF_VEHICLE,
  },
  definitions: {
    summary:
      'Everything that is defined, with versions: accounts, vehicles, geofences, rules. A deletion has no definition.',
    schema: 'definition',
    key: 'Kind and id of the definition: `vehicle:0190…`.',
  },
};

const DEAD_LETTERS: TopicFacts = {
  summary: 'What a reader could not process, with the reason; the newest of a key stands.',
  schema: 'dead-letter',
  key: 'Topic, partition and offset of the record, and its reader: `events/3@1200/archiver`.',
};

const DESCRIPTION = `The topics of the log, as services and \`outrider\` read and write them in Kafka. Programs beside it may read
them with groups of their own; \`KAFKA_PREFIX\` stands in front of each name. Nothing but Outrider may write to them.

Records are Avro in single-object encoding: two bytes \`c3 01\`, eight bytes with the fingerprint (CRC-64-AVRO, little-endian)
of the schema that wrote the record, the record. Earlier schemas are in \`schemas/history\`. Of a vehicle's records all are
in one partition. A record may be there twice after a crash: packets by the vehicle and the time of the fix, events by
their id and phase. What can't be processed goes to the topic with \`-dead\` behind its name.

Programs that need events and positions alone have it easier with the feeds of the REST API.`;

/** Content of `schemas/topics.asyncapi.json`, which describes the topics in Kafka for programs and people. */
export function topicsDocument(version: string): string {
  const topics = LOG_TOPICS.map(({ name, compacted }) => ({ name, address: name, compacted, ...factsOf(name) }));
  const dead = { name: 'dead-letters', address: deadTopicOf('{topic}').name, compacted: false, ...DEAD_LETTERS };
  const byName = <T>(of: (topic: typeof dead) => T) =>
    Object.fromEntries([...topics, dead].map((topic) => [topic.name, of(topic)]));
  const document = {
    asyncapi: '3.0.0',
    info: { title: 'Outrider topics', version, description: DESCRIPTION },
    defaultContentType: 'avro/binary',
    servers: { kafka: { host: 'kafka:9092', protocol: 'kafka' } },
    channels: byName(({ name, address, compacted, summary }) => ({
      address,
      summary,
      messages: { record: { $ref: `#/components/messages/${name}` } },
      ...(name === dead.name ? { parameters: { topic: { enum: topics.map((topic) => topic.name) } } } : {}),
      bindings: {
        kafka: {
          topicConfiguration: { 'cleanup.policy': [compacted ? 'compact' : 'delete'] },
          bindingVersion: '0.5.0',
        },
      },
    })),
    operations: Object.fromEntries(
      Object.entries(byName(({ name }) => ({ action: 'send', channel: { $ref: `#/channels/${name}` } }))).map(
        ([name, operation]) => [`read-${name}`, operation],
      ),
    ),
    components: {
      messages: byName(({ name, summary, schema, key }) => ({
        name,
        summary,
        payload: { schemaFormat: 'application/vnd.apache.avro+json;version=1.9.0', schema: schemaOf(schema) },
        bindings: { kafka: { key: { type: 'string', description: key }, bindingVersion: '0.5.0' } },
      })),
    },
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function factsOf(name: string): TopicFacts {
  const facts = FACTS[name];
  if (facts === undefined) throw new Error(`topics-document.ts does not say what topic ${name} is for`);
  return facts;
}

function schemaOf(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`${name}.avsc`, TOPICS_DOCUMENT), 'utf8'));
}
