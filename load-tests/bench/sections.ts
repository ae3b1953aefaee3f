/** The sections in the order in which they run: a module in `sections/` each. */
export const sectionNames = [
  'engine',
  'geo',
  'log',
  'warehouse',
  'codecs',
  'road',
  'latency',
  'memory',
  'video',
] as const;

export type SectionName = (typeof sectionNames)[number];

/** @throws {RangeError} when a name is no section's; nothing named means all */
export function chooseSections(named: readonly string[]): SectionName[] {
  const unknown = named.find((name) => !sectionNames.some((known) => known === name));
  if (unknown !== undefined) throw new RangeError(`no section "${unknown}": there are ${sectionNames.join(', ')}`);
  return sectionNames.filter((name) => named.length === 0 || named.includes(name));
}
