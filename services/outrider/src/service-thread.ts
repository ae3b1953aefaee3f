import { runInThread } from './threads.ts';

await runInThread();
