import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { Terminal } from './command.ts';

/** The terminal of this process. Ctrl-C aborts commands that run until they are stopped. */
export function processTerminal(): Terminal {
  const ending = new AbortController();
  process.once('SIGINT', () => ending.abort());
  process.once('SIGTERM', () => ending.abort());
  return {
    env: process.env,
    print: (line) => process.stdout.write(`${line}\n`),
    note: (line) => process.stderr.write(`${line}\n`),
    async ask(question) {
      process.stderr.write(question);
      const isShown = process.stdin.isTTY !== true;
      // No echo of the typed text.
      const nowhere = new Writable({ write: (_, __, done) => done() });
      const lines = createInterface({ input: process.stdin, output: nowhere, terminal: !isShown });
      try {
        return await lines.question('', { signal: ending.signal });
      } finally {
        lines.close();
        process.stderr.write('\n');
      }
    },
    signal: ending.signal,
  };
}
