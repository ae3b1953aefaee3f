import { asChange, type DefinitionChange, type DefinitionKind } from '@outrider/domain';
import { definitionRecordsTopic, definitionsTopic, type Log } from '@outrider/log';
import type { DefinitionVersion, Registry } from '@outrider/registry';

export interface ReconciliationParts {
  registry: Pick<Registry, 'outbox' | 'definitionVersions' | 'definitionsOf' | 'recentChanges' | 'outrunVersions'>;
  log: Pick<Log, 'bounds' | 'read' | 'append'>;
  /** Unix milliseconds. */
  now(): number;
}

/** Differences between topic `definitions` and the registry. */
export interface DefinitionsDifference {
  /** Definitions in the registry. */
  inRegistry: number;
  /** In the registry and not in the topic. */
  missing: number;
  /** In the topic in a version that is older than the registry's. */
  older: number;
  /** In the topic in a format of an earlier version of the program. */
  earlierFormat: number;
  /** In the topic, and deleted in the registry, which still has the time of the deletion. */
  undeleted: number;
  /**
   * In the topic and not in the registry, which has no record of a deletion. It was committed and published, so the
   * registry has lost it, for example by being restored from an older copy.
   */
  gone: number;
  /** In the topic in a version that is newer than the registry's: it has lost a change. */
  newer: number;
  /** The first definitions that are gone or newer. */
  examples: Pick<DefinitionChange, 'kind' | 'id'>[];
}

/**
 * How differences are handled. `mend`: missing records are appended to the topic. `accept`: the registry is taken as
 * correct, including its losses; deletions and versions above the topic's own are appended to the topic.
 */
export type Remedy = 'none' | 'mend' | 'accept';

interface Published {
  kind: DefinitionKind;
  version: number;
  changedAtMs: number;
  /** Whether the topic's record is a deletion. */
  deleted: boolean;
  /** Whether the topic's record has the format that this version writes. */
  isCurrent: boolean;
  /** Whether the registry has it. */
  seen: boolean;
}

const AT_ONCE = 500;
/** A geofence may have ten thousand points. */
const GEOFENCES_AT_ONCE = 20;
const MAX_EXAMPLES = 10;

/**
 * Compares topic `definitions` with the registry, and appends what the topic lacks: after a loss of the topic, nothing
 * else would restore definitions that were published long ago. Only ids and versions are held in memory; a definition
 * is loaded when it has to be published.
 *
 * While this runs, no other instance may append definitions: it could append an older version after a newer one.
 */
export async function reconcileDefinitions(
  { registry, log, now }: ReconciliationParts,
  remedy: Remedy,
): Promise<DefinitionsDifference> {
  const published = await publishedVersions(log);
  const { contested, superseded } = await foresee(registry, published);
  const accepted = remedy === 'accept' ? superseded : superseded.filter(({ id }) => !contested.has(id));
  if (remedy !== 'none') await registry.outbox.delivered(accepted.map(({ seq }) => seq));

  const difference: DefinitionsDifference = {
    ...{ inRegistry: 0, missing: 0, older: 0, earlierFormat: 0, undeleted: 0, gone: 0, newer: 0 },
    examples: [],
  };
  const noteLost = (what: 'gone' | 'newer', kind: DefinitionKind, id: string) => {
    difference[what]++;
    if (difference.examples.length < MAX_EXAMPLES) difference.examples.push({ kind, id });
  };
  for await (const page of registry.definitionVersions()) {
    const stale: DefinitionVersion[] = [];
    const outrun: DefinitionVersion[] = [];
    for (const each of page) {
      difference.inRegistry++;
      const known = published.get(each.id);
      if (known) known.seen = true;
      if (known === undefined) difference.missing++;
      else if (
        known.version > each.version ||
        (known.version === each.version && known.deleted) ||
        contested.has(each.id)
      ) {
        noteLost('newer', each.kind, each.id);
        outrun.push({ ...each, version: Math.max(known.version, each.version) });
        continue;
      } else if (known.version < each.version) difference.older++;
      else if (known.isCurrent) continue;
      else difference.earlierFormat++;
      stale.push(each);
    }
    if (remedy === 'accept' && outrun.length > 0) await registry.outrunVersions(outrun);
    if (remedy !== 'none')
      for (const [kind, some] of Map.groupBy(stale, (each) => each.kind))
        await publishAll(
          kind,
          some.map(({ id }) => id),
        );
  }

  const left = new Map([...published].filter(([, { seen, deleted }]) => !seen && !deleted));
  const deletedAt = left.size === 0 ? new Map<string, number>() : await registry.recentChanges.deletions(left);
  const deletions: DefinitionChange[] = [];
  for (const [id, { kind, version }] of left) {
    const isDeletion = (deletedAt.get(id) ?? 0) > version;
    if (isDeletion) difference.undeleted++;
    else noteLost('gone', kind, id);
    if (remedy === 'accept' || (remedy === 'mend' && isDeletion))
      deletions.push({ kind, id, version: version + 1, changedAtMs: now(), definition: null });
  }
  for (let at = 0; at < deletions.length; at += AT_ONCE)
    await log.append(definitionsTopic, deletions.slice(at, at + AT_ONCE));
  if (remedy === 'accept' || (remedy === 'mend' && lostOf(difference) === 0)) await carryOutbox(registry, log);
  return difference;

  async function publishAll(kind: DefinitionKind, ids: readonly string[]): Promise<void> {
    const atOnce = kind === 'geofence' ? GEOFENCES_AT_ONCE : AT_ONCE;
    for (let at = 0; at < ids.length; at += atOnce) {
      const definitions = await registry.definitionsOf(kind, ids.slice(at, at + atOnce));
      await log.append(
        definitionsTopic,
        definitions.map((definition) => asChange(definition, now())),
      );
    }
  }
}

/** Appends the changes in the outbox, the oldest first. */
export async function carryOutbox(
  { outbox }: Pick<Registry, 'outbox'>,
  log: ReconciliationParts['log'],
): Promise<void> {
  for (;;) {
    const pending = await outbox.pending(AT_ONCE);
    if (pending.length === 0) return;
    await log.append(
      definitionsTopic,
      pending.map(({ change }) => change),
    );
    await outbox.delivered(pending.map(({ seq }) => seq));
  }
}

/**
 * Adds to `published` what the topic will have once the outbox is published.
 *
 * @returns changes that must not be published, because the topic keeps only the last record of each definition.
 *   `superseded`: the topic has this version or a newer one. `contested`: the topic has the same version with another
 *   time, because a registry that had lost changes made others
 */
async function foresee({ outbox }: Pick<Registry, 'outbox'>, published: Map<string, Published>) {
  const superseded: { id: string; seq: number }[] = [];
  const contested = new Set<string>();
  for (let after = 0; ; ) {
    const pending = await outbox.after(after);
    for (const { seq, change } of pending) {
      after = seq;
      const { kind, id, version, changedAtMs, definition } = change;
      const known = published.get(id);
      if (known !== undefined && version <= known.version) {
        superseded.push({ id, seq });
        if (version === known.version && changedAtMs !== known.changedAtMs) contested.add(id);
      } else
        published.set(id, {
          ...{ kind, version, changedAtMs, deleted: definition === null },
          ...{ isCurrent: true, seen: false },
        });
    }
    if (pending.length === 0) return { superseded, contested };
  }
}

/** Number of definitions and deletions in the registry that the topic lacks. */
export function lackingOf({ missing, older, earlierFormat, undeleted }: DefinitionsDifference): number {
  return missing + older + earlierFormat + undeleted;
}

/** Number of definitions, or changes of them, that the registry has lost. */
export function lostOf({ gone, newer }: DefinitionsDifference): number {
  return gone + newer;
}

/** Number of definitions of each kind in the topic. */
export async function publishedKinds(
  log: ReconciliationParts['log'],
): Promise<Partial<Record<DefinitionKind, number>>> {
  const kinds: Partial<Record<DefinitionKind, number>> = {};
  for (const { kind, deleted } of (await publishedVersions(log)).values())
    if (!deleted) kinds[kind] = (kinds[kind] ?? 0) + 1;
  return kinds;
}

async function publishedVersions(log: ReconciliationParts['log']): Promise<Map<string, Published>> {
  const published = new Map<string, Published>();
  for (const [partition, { end }] of await log.bounds(definitionsTopic))
    for await (const { records } of log.read(definitionRecordsTopic, partition, 'earliest', end))
      for (const { value } of records) {
        // An unreadable record counts as missing: the registry's is published in its place.
        if (value.change === null) continue;
        const { kind, id, version, changedAtMs, definition } = value.change;
        const known = published.get(id);
        if (known === undefined || known.version <= version)
          published.set(id, {
            ...{ kind, version, changedAtMs, deleted: definition === null },
            ...{ isCurrent: value.isCurrent, seen: false },
          });
      }
  return published;
}
