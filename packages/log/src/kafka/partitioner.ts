import type { PartitionerArgs } from 'kafkajs';

const SEED = 0x9747b28c;
const M = 0x5bd1e995;

/**
 * Chooses a partition by murmur2 of the key's bytes, as all of Kafka's clients do. The library's own implementation
 * uses big integers and takes longer than the encoding of a record. A test compares the two.
 */
export function partitionByKey({ partitionMetadata, message }: PartitionerArgs): number {
  const { key } = message;
  if (key === null || key === undefined) throw new Error('a record without a key');
  return hashOf(key) % partitionMetadata.length;
}

/** @returns 0 to 2³¹ - 1: determines the partition and the producer queue */
export function hashOf(key: string | Buffer): number {
  return murmur2(typeof key === 'string' ? bytesOf(key) : key) & 0x7fffffff;
}

/** Buffer for short keys: keys are ids, and nearly always ASCII. */
const short = new Uint8Array(64);

/** @returns the key in UTF-8, in memory that the next call may overwrite */
function bytesOf(key: string): Uint8Array {
  const { length } = key;
  if (length > short.length) return Buffer.from(key);
  for (let i = 0; i < length; i++) {
    const code = key.charCodeAt(i);
    if (code > 127) return Buffer.from(key);
    short[i] = code;
  }
  return short.subarray(0, length);
}

function murmur2(bytes: Uint8Array): number {
  const { length } = bytes;
  let hash = SEED ^ length;
  let at = 0;
  for (; at + 4 <= length; at += 4) {
    let word = at4(bytes, at);
    word = Math.imul(word, M);
    word = Math.imul(word ^ (word >>> 24), M);
    hash = Math.imul(hash, M) ^ word;
  }
  const rest = length - at;
  if (rest > 2) hash ^= (bytes[at + 2] ?? 0) << 16;
  if (rest > 1) hash ^= (bytes[at + 1] ?? 0) << 8;
  if (rest > 0) hash = Math.imul(hash ^ (bytes[at] ?? 0), M);
  hash = Math.imul(hash ^ (hash >>> 13), M);
  return hash ^ (hash >>> 15);
}

function at4(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24);
}
