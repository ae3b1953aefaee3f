import { KNOWN_VARIABLES } from './known-variables.ts';

/** Environment variables that look like settings but are not. */
export interface Misspelt {
  /** A sentence for each name with which a setting would silently keep its fallback: the service must not start. */
  errors: string[];
  /** A sentence for each name that is not a setting, while no setting was clearly meant. */
  warnings: string[];
}

const PREFIX = 'OUTRIDER_';
/**
 * Names of settings in other programs. If only such a name were set, the service would start with another store than
 * intended.
 */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  ADMIN_PASSWORD: ['ADMIN_PASS', 'ADMIN_PWD', 'ADMIN_SECRET', 'ADMIN_INITIAL_PASSWORD'],
  CLICKHOUSE_URL: ['CLICKHOUSE_HOST', 'CLICKHOUSE_ADDR', 'CLICKHOUSE_ADDRESS', 'CLICKHOUSE_DSN', 'CLICKHOUSE_SERVER'],
  DATABASE_URL: [
    ...['DB_URL', 'DB_URI', 'DB_DSN', 'DB_HOST', 'DATABASE_DSN', 'DATABASE_HOST', 'PG_URL', 'PG_URI'],
    ...['POSTGRES_URL', 'POSTGRES_URI', 'POSTGRES_DSN', 'POSTGRES_HOST'],
    ...['POSTGRESQL_URL', 'POSTGRESQL_URI', 'POSTGRESQL_DSN', 'POSTGRESQL_HOST'],
  ],
  KAFKA_BROKERS: [
    ...['KAFKA_BOOTSTRAP_SERVERS', 'KAFKA_BOOTSTRAP', 'BOOTSTRAP_SERVERS', 'KAFKA_URL', 'KAFKA_HOST', 'KAFKA_ADDR'],
    ...['KAFKA_SERVERS', 'KAFKA_BROKER_LIST', 'KAFKA_BROKER_URL'],
  ],
  REDIS_URL: ['REDIS_HOST', 'REDIS_ADDR', 'REDIS_ADDRESS', 'REDIS_DSN', 'REDIS_SERVER'],
  S3_URL: ['S3_ENDPOINT', 'S3_ENDPOINT_URL', 'S3_HOST'],
};
/** Variables of the command line, which uses a service by its API. */
const COMMAND_LINE: ReadonlySet<string> = new Set(
  ['URL', 'KEY', 'PASSWORD', 'LOGIN_FILE'].map((name) => PREFIX + name),
);
/** Minimum number of common first words that relate an unknown name to a setting of Outrider. */
const FAMILY_WORDS = 2;
/** OpenTelemetry's standard has more settings than are read here. */
const STANDARD = /^OTEL_/;
/** Names that Kubernetes sets in every container for each service of the namespace, in the form of Docker's links. */
const KUBERNETES_NAME = /_SERVICE_(?:HOST|PORT)(?:_\w+)?$|_PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?$/;
const KUBERNETES_PORT = /^(?:tcp|udp|sctp):\/\//;

/**
 * Finds names that are probably a misspelt setting: with another case, a letter or two off, words in another order, in
 * the plural or singular, with the prefix `OUTRIDER_`, or as other programs name it.
 *
 * @param names of the settings that this process reads
 * @param environment empty values count as unset
 */
export function misspeltVariables(names: readonly string[], environment: NodeJS.ProcessEnv): Misspelt {
  const known = new Set([...names, ...KNOWN_VARIABLES]);
  const found: Misspelt = { errors: [], warnings: [] };
  for (const [name, value = ''] of Object.entries(environment)) {
    if (value === '' || known.has(name) || COMMAND_LINE.has(name)) continue;
    if (KUBERNETES_NAME.test(name) || (name.endsWith('_PORT') && KUBERNETES_PORT.test(value))) continue;
    const meant = nearest(name, [...known]);
    if (meant !== null) {
      const sentence = `${name} is not a setting; did you mean ${meant}?`;
      // If the right one is set as well, the other is probably for another program.
      if (environment[meant]) found.warnings.push(sentence);
      else found.errors.push(sentence);
    } else if (name.startsWith(PREFIX)) found.warnings.push(`${name} is not a setting; none begins with ${PREFIX}`);
    else {
      const family = familyOf(name, [...known]);
      if (family.length > 0) found.warnings.push(`${name} is not a setting; there are ${family.join(', ')}`);
    }
  }
  return found;
}

/** The setting that was probably meant; null if none is similar. */
function nearest(name: string, known: readonly string[]): string | null {
  const bare = name.toUpperCase().startsWith(PREFIX) ? name.slice(PREFIX.length) : name;
  const upper = bare.toUpperCase();
  const words = wordsOf(upper);
  for (const [setting, others] of Object.entries(OTHER_NAMES))
    if (others.some((other) => wordsOfSetting(other) === words)) return setting;
  const same = known.find((each) => each === upper || wordsOfSetting(each) === words);
  if (same !== undefined) return same;
  let best: string | null = null;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const each of known) {
    const allowed = allowedDistance(each);
    if (Math.abs(each.length - upper.length) > allowed) continue;
    const distance = editDistance(each, upper);
    if (distance > allowed || distance >= bestDistance) continue;
    best = each;
    bestDistance = distance;
  }
  return best;
}

/** Maximum edit distance. Short names are similar to many words: `PORT` is one letter away from `SORT`. */
function allowedDistance(name: string): number {
  if (name.length < 6) return 0;
  return name.length < 10 ? 1 : 2;
}

/** Cache for the names of settings, with which each name of the environment is compared. */
const settingWords = new Map<string, string>();
function wordsOfSetting(name: string): string {
  const words = settingWords.get(name) ?? wordsOf(name);
  settingWords.set(name, words);
  return words;
}

/** The words of a name, regardless of order, plural and separators. */
function wordsOf(name: string): string {
  return name
    .split(/[_\-.]+/)
    .map((word) => word.replace(/(?<=\w{3})S$/, ''))
    .toSorted()
    .join('_');
}

/** Settings that differ from the name in the last word only. */
function familyOf(name: string, known: readonly string[]): string[] {
  const words = name.split('_');
  if (STANDARD.test(name) || words.length <= FAMILY_WORDS) return [];
  const front = `${words.slice(0, -1).join('_')}_`;
  return known.filter((each) => each.startsWith(front) && !each.slice(front.length).includes('_'));
}

/** Number of letters to insert, delete, replace or swap with their neighbour (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, n) => n);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = at(last, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let least = Math.min(replaced, at(last, j) + 1, at(row, j - 1) + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, at(before, j - 2) + 1);
      row.push(least);
    }
    before = last;
    last = row;
  }
  return at(last, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
