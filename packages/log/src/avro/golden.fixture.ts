/** Records that a format of definitions wrote, one of each kind. */
export interface GoldenRecord {
  /** The record of topic `definitions`, in base64. */
  avro: string;
  /** What checkpoints and the outbox hold. */
  json: string;
}

export function goldenFile(format: number): URL {
  return new URL(`../../../../schemas/history/definition.v${format}.records.json`, import.meta.url);
}
