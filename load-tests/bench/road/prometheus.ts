/**
 * Samples of a Prometheus text: each under its name with its labels, as written, and each name's sum over all labels.
 */
export function parseMetrics(text: string): Map<string, number> {
  const samples = new Map<string, number>();
  const add = (name: string, value: number): void => void samples.set(name, (samples.get(name) ?? 0) + value);
  for (const line of text.split('\n')) {
    const match = /^([a-zA-Z_:][\w:]*)(\{.*\})? (\S+)/.exec(line);
    if (!match) continue;
    const [, name = '', labels, value] = match;
    add(name, Number(value));
    if (labels !== undefined) add(name + labels, Number(value));
  }
  return samples;
}
