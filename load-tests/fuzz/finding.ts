import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** How much was tried of one target, and what came of it. */
export interface Tally {
  target: string;
  inputs: number;
  seconds: number;
  accepted: number;
  refused: number;
  note: string;
  findings: number;
}

/** Something that must not be. */
export interface Finding {
  target: string;
  /** The first line is a summary; details follow. */
  message: string;
  input:
    | { bytes: string }
    /** Conversations with ports of the service, each as the chunks that were sent, in base64. */
    | { conversations: readonly RecordedConversation[] };
}

/** Who ends a conversation, and how. */
export type ConversationEnd = 'close' | 'half-close' | 'reset' | 'answer' | 'silence';

/** What was sent to one port over one connection. */
export interface RecordedConversation {
  port: string;
  ends: ConversationEnd;
  chunks: readonly string[];
}

/** Writes a finding where it can be played again. @returns the file */
export async function writeFinding(folder: string, number: number, seed: number, finding: Finding): Promise<string> {
  await mkdir(folder, { recursive: true });
  const file = join(folder, `${seed}-${number}-${finding.target.replaceAll(/[^a-z0-9]+/g, '-')}.json`);
  await writeFile(file, `${JSON.stringify(finding, null, 2)}\n`);
  return file;
}

/** @throws {Error} when the file holds no finding */
export async function readFinding(file: string): Promise<Finding> {
  const finding = JSON.parse(await readFile(file, 'utf8')) as Partial<Finding>;
  if (typeof finding.target !== 'string' || typeof finding.input !== 'object')
    throw new Error(`${file} holds no finding`);
  return finding as Finding;
}
