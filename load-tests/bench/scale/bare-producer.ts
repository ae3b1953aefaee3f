import type { TelemetryPacket } from '@outrider/domain';
import { telemetryTopic } from '@outrider/log';
import { Kafka, logLevel, type Message, Partitioners } from 'kafkajs';
import { decodePackets, loadTerminalId, loadVehicleId, recordPackets } from '../drives.ts';
import { timed } from '../measure.ts';
import { awaitTask } from '../road/child.ts';

/** The client library by itself: the records of a generator's run, produced. */
export interface BareProducerTask {
  brokers: readonly string[];
  /** In the cluster; it must be there. */
  topic: string;
  vehicles: number;
  positionsPerVehicle: number;
  perPacket: number;
  endMs: number;
  /** A request takes so many bytes: as many as the services' log puts into one. */
  requestBytes: number;
}

export type BareProducerMessage =
  | { type: 'ready'; messages: number; bytes: number }
  /** It produces after the command `produce`. */
  | { type: 'produced'; seconds: number; cpuSeconds: number };

const { task, send, awaitCommand } = await awaitTask<BareProducerTask, BareProducerMessage>();
const kafka = new Kafka({ brokers: [...task.brokers], logLevel: logLevel.NOTHING });

const messages = recordMessages();
send({
  type: 'ready',
  messages: messages.length,
  bytes: messages.reduce((sum, { value }) => sum + (value?.length ?? 0), 0),
});

await awaitCommand('produce');
const producer = kafka.producer({
  idempotent: true,
  maxInFlightRequests: 1,
  allowAutoTopicCreation: false,
  createPartitioner: Partitioners.DefaultPartitioner,
});
await producer.connect();
const requests = requestsOf(messages);
send({
  type: 'produced',
  ...(await timed(async () => {
    for (const request of requests) await producer.send({ topic: task.topic, acks: -1, messages: request });
  })),
});
await producer.disconnect();

function requestsOf(all: readonly Message[]): Message[][] {
  const made: Message[][] = [[]];
  let bytes = 0;
  for (const message of all) {
    bytes += message.value?.length ?? 0;
    if (bytes > task.requestBytes) {
      made.push([]);
      bytes = message.value?.length ?? 0;
    }
    made.at(-1)?.push(message);
  }
  return made;
}

/** In the order in which a gateway gets them: a packet of each vehicle in turn. */
function recordMessages(): Message[] {
  const drives = Array.from({ length: task.vehicles }, (_, vehicle) =>
    decodePackets(recordPackets(vehicle, task.positionsPerVehicle, task.perPacket, task.endMs)),
  );
  const made: Message[] = [];
  for (let at = 0; at < Math.ceil(task.positionsPerVehicle / task.perPacket); at++)
    for (const [vehicle, drive] of drives.entries()) {
      const packet: TelemetryPacket = {
        vehicleId: loadVehicleId(vehicle),
        terminalId: loadTerminalId(vehicle),
        protocol: 'teltonika',
        receivedAtMs: task.endMs,
        positions: drive[at] ?? [],
      };
      made.push({ key: telemetryTopic.key(packet), value: telemetryTopic.encode(packet) });
    }
  return made;
}
