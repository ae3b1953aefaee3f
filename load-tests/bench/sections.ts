/** The sections in the order in which they run: a module in `sections/` each. */
export const sectionNames = [
  'engine',
  'geo',
  'log',
  'warehouse',
  'codecs',
  'api',
  'road',
  'latency',
  'light',
  'notifications',
  'live',
  'neighbour',
  'returning',
  'recalculation',
  'memory',
  'video',
  'reports',
  'scale',
  'returning-kafka',
] as const;

export type SectionName = (typeof sectionNames)[number];

/** Those that take many minutes, or need servers, run only where they are named. */
const ON_DEMAND: ReadonlySet<SectionName> = new Set(['recalculation', 'reports', 'scale', 'returning-kafka']);

/** @throws {RangeError} when a name is no section's; nothing named means all but those that must be named */
export function chooseSections(named: readonly string[]): SectionName[] {
  const unknown = named.find((name) => !sectionNames.some((known) => known === name));
  if (unknown !== undefined) throw new RangeError(`no section "${unknown}": there are ${sectionNames.join(', ')}`);
  return sectionNames.filter((name) => (named.length === 0 ? !ON_DEMAND.has(name) : named.includes(name)));
}
