import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Log, Topic } from '../log.ts';

/** A topic of plain text, whose key is the text before the first space. */
export function textTopic(name: string, compacted = false): Topic<string> {
  return {
    name,
    key: (text) => text.split(' ', 1)[0] ?? '',
    encode: (text) => Buffer.from(text),
    decode: (bytes) => bytes.toString(),
    compacted,
  };
}

/** All records of the topic, in the order of offsets, partition by partition. */
export async function readTexts(log: Log, topic: Topic<string>): Promise<string[]> {
  const texts: string[] = [];
  for (const [partition, end] of await log.endOffsets(topic))
    for await (const { records } of log.read(topic, partition, 'earliest', end))
      texts.push(...records.map(({ value }) => value));
  return texts;
}

/** Runs `use` with a new folder, then removes the folder. */
export async function inFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'outrider-log-'));
  try {
    await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
