import { parentPort, workerData } from 'node:worker_threads';
import { checkFile } from './row-sums.ts';

parentPort?.postMessage(checkFile(workerData as string));
