/** The sections in the order in which they run: a module in `sections/` each. */
export const sectionNames = [
  'engine',
  'fuel',
  'sensors',
  'geo',
  'log',
  'warehouse',
  'codecs',
  'api',
  'pipeline',
  'latency',
  'light',
  'terminals',
  'notifications',
  'live',
  'neighbour',
  'returning',
  'recalculation',
  'memory',
  'video',
  'console',
  'reports',
  'scale',
  'returning-kafka',
] as const;

export type SectionName = (typeof sectionNames)[number];

/** What one wants to know first, within five minutes. */
export const HEADLINE: readonly SectionName[] = ['pipeline', 'light', 'terminals'];

/** Those that take many minutes, or need servers, run only where they are named. */
const ON_DEMAND: ReadonlySet<SectionName> = new Set(['recalculation', 'reports', 'scale', 'returning-kafka']);

/** All sections but those that must be named. */
export const FULL: readonly SectionName[] = sectionNames.filter((name) => !ON_DEMAND.has(name));

/** @returns the named sections in the order of the list. @throws {RangeError} when a name is no section's */
export function chooseSections(named: readonly string[]): SectionName[] {
  const unknown = named.find((name) => !sectionNames.some((known) => known === name));
  if (unknown !== undefined) throw new RangeError(`no section "${unknown}": there are ${sectionNames.join(', ')}`);
  return sectionNames.filter((name) => named.includes(name));
}
