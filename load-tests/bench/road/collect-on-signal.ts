import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

/*
 * Loaded into a process before its own code (`--import`), in each of its threads: SIGUSR2 has all of them collect
 * garbage. What is resident then is what the process keeps, not what it has not yet thrown away.
 */
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const channel = new BroadcastChannel('collect garbage');
channel.unref();
if (isMainThread)
  process.on('SIGUSR2', () => {
    channel.postMessage(null);
    collect();
  });
else channel.onmessage = () => collect();
