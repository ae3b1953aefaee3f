import type { Definition, DefinitionChange, DefinitionKind } from '@outrider/domain';
import { definitionsTopic, type Log } from '@outrider/log';
import { NotFoundError, type Registry, type WrittenChange } from '@outrider/registry';
import { type DefinitionsDifference, reconcileDefinitions } from './definitions-reconciliation.ts';

export interface RegistryRebuild {
  written: ReadonlyMap<DefinitionKind, number>;
  deleted: ReadonlyMap<DefinitionKind, number>;
  /** Logins of recreated accounts, which have no password. */
  logins: readonly string[];
  /** Names of rules whose webhook has lost its URL or secret, or which have lost message channels. */
  rules: readonly string[];
  /** Names of video profiles whose address was secret. */
  profiles: readonly string[];
  /** Difference between the topic and the registry afterwards. */
  difference: DefinitionsDifference;
}

/** Kinds in the order of deletion: definitions that reference others come first. */
const DELETED_IN_ORDER = [
  'notification-rule',
  'video-profile',
  'geofence',
  'driver',
  'vehicle',
  'group',
  'user',
] as const satisfies DefinitionKind[];

/**
 * Writes definitions from topic `definitions` into the registry if they are missing or older there, and deletes what
 * the topic has as deleted. Definitions added after the loss are kept. Changes made after the loss to lost definitions
 * are discarded.
 *
 * While this runs, nothing else may write to the registry, and no other instance may append definitions.
 */
export async function rebuildRegistry(registry: Registry, log: Log, now: () => number): Promise<RegistryRebuild> {
  const newest = await newestChanges(log);
  const contested = await settleOutbox(registry, newest);
  const before = await versionsOf(registry);
  const isDue = ({ id, version }: DefinitionChange) => contested.has(id) || version > (before.get(id) ?? 0);
  const changes = [...newest.values()];

  const gone = changes.filter(({ id, version, definition }) => {
    const there = before.get(id);
    return definition === null && there !== undefined && (version >= there || contested.has(id));
  });
  const touched = await deleteAll(registry, gone);

  const left = changes.filter(({ id, definition }) => definition !== null && !before.has(id));
  const deletions = await registry.recentChanges.deletions(new Set(left.map(({ id }) => id)));
  const due = changes.filter(
    (change): change is WrittenChange =>
      change.definition !== null &&
      (touched.has(change.id) || (isDue(change) && !((deletions.get(change.id) ?? 0) > change.version))),
  );
  await registry.writeDefinitions(due);

  const made = due.map(({ definition }) => definition).filter(({ id }) => !before.has(id));
  const some = <Kind extends Definition['kind']>(kind: Kind, of: readonly Definition[]) =>
    of.filter((each): each is Extract<Definition, { kind: Kind }> => each.kind === kind);
  const rules: string[] = [];
  for (const rule of some(
    'notification-rule',
    due.map(({ definition }) => definition),
  )) {
    const { url, secret } = await registry.notificationRules.webhook(rule.id);
    const hasLostSecret = rule.webhookUrl !== null && (url === null || secret === null);
    const channels = (await registry.notificationRules.get(rule.id))?.channelIds.length ?? 0;
    if (hasLostSecret || channels < rule.channelIds.length) rules.push(rule.name);
  }
  return {
    written: counted(due),
    deleted: counted(gone),
    logins: some('user', made).map(({ login }) => login),
    rules,
    profiles: some('video-profile', made).flatMap(({ protocol, name }) => (protocol === 'stream' ? [name] : [])),
    difference: await reconcileDefinitions({ registry, log, now }, 'mend'),
  };
}

/** The last change of each definition that this version can read. */
export async function newestChanges(log: Pick<Log, 'bounds' | 'read'>): Promise<Map<string, DefinitionChange>> {
  const newest = new Map<string, DefinitionChange>();
  for (const [partition, { end }] of await log.bounds(definitionsTopic))
    for await (const { records } of log.read(definitionsTopic, partition, 'earliest', end))
      for (const { value } of records)
        if (value.version >= (newest.get(value.id)?.version ?? 0)) newest.set(value.id, value);
  return newest;
}

/**
 * Removes from the outbox changes that the topic already has, and all changes of definitions that were changed
 * differently after a loss.
 *
 * @returns ids of the latter
 */
async function settleOutbox(registry: Registry, newest: ReadonlyMap<string, DefinitionChange>): Promise<Set<string>> {
  const contested = new Set<string>();
  const pending: { id: string; seq: number; isPublished: boolean }[] = [];
  for (let page = await registry.outbox.after(0); page.length > 0; ) {
    for (const { seq, change } of page) {
      const { id, version, changedAtMs } = change;
      const known = newest.get(id);
      if (version === known?.version && changedAtMs !== known.changedAtMs) contested.add(id);
      pending.push({ id, seq, isPublished: version <= (known?.version ?? 0) });
    }
    page = await registry.outbox.after(pending.at(-1)?.seq ?? 0);
  }
  const settled = pending.filter(({ id, isPublished }) => isPublished || contested.has(id));
  await registry.outbox.delivered(settled.map(({ seq }) => seq));
  return contested;
}

async function versionsOf(registry: Registry): Promise<Map<string, number>> {
  const versions = new Map<string, number>();
  for await (const page of registry.definitionVersions()) for (const { id, version } of page) versions.set(id, version);
  return versions;
}

/**
 * Deletes definitions as a user's deletion would, with everything that depends on them. The resulting changes are not
 * published, as the topic has them.
 *
 * @returns ids of everything that it changed
 */
async function deleteAll(registry: Registry, gone: readonly DefinitionChange[]): Promise<Set<string>> {
  const touched = new Set<string>();
  const own = new Set<string>();
  const unfollow = registry.onChange((changes) => {
    for (const { id, version } of changes) {
      touched.add(id);
      own.add(`${id} ${version}`);
    }
  });
  try {
    for (const kind of DELETED_IN_ORDER)
      for (const change of gone.filter((each) => each.kind === kind))
        try {
          await repositoryOf(registry, kind).delete(change.id as never, null);
        } catch (error) {
          // It was already deleted along with another.
          if (!(error instanceof NotFoundError)) throw error;
        }
  } finally {
    unfollow();
  }
  for (let after = 0; ; ) {
    const pending = await registry.outbox.after(after);
    if (pending.length === 0) return touched;
    after = pending.at(-1)?.seq ?? after;
    const ours = pending.filter(({ change: { id, version } }) => own.has(`${id} ${version}`));
    await registry.outbox.delivered(ours.map(({ seq }) => seq));
  }
}

function repositoryOf(registry: Registry, kind: DefinitionKind) {
  switch (kind) {
    case 'notification-rule':
      return registry.notificationRules;
    case 'video-profile':
      return registry.videoProfiles;
    case 'geofence':
      return registry.geofences;
    case 'driver':
      return registry.drivers;
    case 'vehicle':
      return registry.vehicles;
    case 'group':
      return registry.groups;
    case 'user':
      return registry.users;
  }
}

function counted(changes: readonly DefinitionChange[]): Map<DefinitionKind, number> {
  const counts = new Map<DefinitionKind, number>();
  for (const { kind } of changes) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}
