import { asChange, type DefinitionChange, type DefinitionKind } from '@outrider/domain';
import { definitionRecordsTopic, definitionsTopic, type Log } from '@outrider/log';
import type { Registry } from '@outrider/registry';

export interface ReconciliationParts {
  registry: Pick<Registry, 'definitionVersions' | 'definitionsOf'>;
  log: Pick<Log, 'bounds' | 'read' | 'append'>;
  /** Unix milliseconds. */
  now(): number;
}

/** How topic `definitions` differs from the registry. */
export interface DefinitionsDifference {
  /** Definitions in the registry. */
  inRegistry: number;
  /** In the registry and not in the topic. */
  missing: number;
  /** In the topic in a version that is older than the registry's. */
  older: number;
  /** In the topic in a format of an earlier version of the program. */
  earlierFormat: number;
  /** In the topic and no longer in the registry. */
  gone: number;
  /**
   * In the topic in a version that is newer than the registry's, as after the registry was restored from an older copy.
   * They can't be republished: readers leave an older version out.
   */
  newer: number;
}

interface Published {
  kind: DefinitionKind;
  version: number;
  /** Whether the topic's record says that it was deleted. */
  deleted: boolean;
  /** Whether the topic's record has the format that this version writes. */
  isCurrent: boolean;
  /** Whether the registry has it. */
  seen: boolean;
}

const AT_ONCE = 500;
/** One may have ten thousand points. */
const GEOFENCES_AT_ONCE = 20;

/**
 * Compares topic `definitions` with the registry, and with `publish` appends what is missing there, what is older, and
 * the deletion of what is gone: after the topic was lost, nothing else would bring back definitions that were published
 * long ago. Only ids and versions are held in memory; a definition is loaded when it has to be published.
 *
 * While this runs no other instance may append definitions: of two, one might put an older version after a newer one.
 */
export async function reconcileDefinitions(
  { registry, log, now }: ReconciliationParts,
  publish: boolean,
): Promise<DefinitionsDifference> {
  // The topic first: what is in it was committed before, so that a definition that the registry lacks then was deleted.
  const published = await publishedVersions(log);
  const difference: DefinitionsDifference = {
    inRegistry: 0,
    missing: 0,
    older: 0,
    earlierFormat: 0,
    gone: 0,
    newer: 0,
  };
  for await (const page of registry.definitionVersions()) {
    const stale = new Map<DefinitionKind, string[]>();
    for (const { kind, id, version } of page) {
      difference.inRegistry++;
      const known = published.get(id);
      if (known) known.seen = true;
      if (known === undefined) difference.missing++;
      else if (known.version < version) difference.older++;
      else if (known.version > version || known.deleted) difference.newer++;
      else if (!known.isCurrent) difference.earlierFormat++;
      const isInTopic =
        known !== undefined &&
        (known.version > version || (known.version === version && (known.deleted || known.isCurrent)));
      if (isInTopic) continue;
      const ids = stale.get(kind);
      if (ids) ids.push(id);
      else stale.set(kind, [id]);
    }
    if (publish) for (const [kind, ids] of stale) await publishAll(kind, ids);
  }

  const deletions: DefinitionChange[] = [];
  for (const [id, { kind, version, deleted, seen }] of published)
    if (!seen && !deleted) deletions.push({ kind, id, version: version + 1, changedAtMs: now(), definition: null });
  difference.gone = deletions.length;
  if (publish)
    for (let at = 0; at < deletions.length; at += AT_ONCE)
      await log.append(definitionsTopic, deletions.slice(at, at + AT_ONCE));
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

/** Whether the topic holds what the registry does, as far as this can be brought about. */
export function isInStep({ missing, older, earlierFormat, gone }: DefinitionsDifference): boolean {
  return missing + older + earlierFormat + gone === 0;
}

async function publishedVersions(log: ReconciliationParts['log']): Promise<Map<string, Published>> {
  const published = new Map<string, Published>();
  for (const [partition, { end }] of await log.bounds(definitionsTopic))
    for await (const { records } of log.read(definitionRecordsTopic, partition, 'earliest', end))
      for (const { value } of records) {
        // One that can't be read is as good as missing: the registry's is published in its place.
        if (value.change === null) continue;
        const { kind, id, version, definition } = value.change;
        const known = published.get(id);
        if (known === undefined || known.version <= version)
          published.set(id, { kind, version, deleted: definition === null, isCurrent: value.isCurrent, seen: false });
      }
  return published;
}
