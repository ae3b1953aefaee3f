import { MessageChannel } from 'node:worker_threads';
import { connectHub, serveHub } from './bridge.ts';
import { hubConformance } from './hub.conformance.ts';
import { MemoryHub } from './memory.ts';

hubConformance('memory', async () => new MemoryHub());

hubConformance('memory, from another thread', async () => {
  const { port1, port2 } = new MessageChannel();
  serveHub(new MemoryHub(), port1);
  return connectHub(port2);
});
