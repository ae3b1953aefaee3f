import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Tokens } from '@outrider/auth';
import { type Clock, type DefinitionChange, type Directory, type ProtocolName, SYSTEM_CLOCK } from '@outrider/domain';
import type { Files } from '@outrider/files';
import type { Geocoder } from '@outrider/geocoder';
import type { Hub } from '@outrider/hub';
import { type Checkpoints, isDiskOutage, type Log } from '@outrider/log';
import type { Registry, RegistryOptions } from '@outrider/registry';
import {
  type Config,
  type hostVariables,
  type Lifecycle,
  type Logger,
  type Metrics,
  type MetricsAccess,
  type ReadyCheck,
  runService,
  type Tracing,
  type Variables,
} from '@outrider/runtime';
import type { Warehouse, WarehouseOptions } from '@outrider/warehouse';
import { accessVariables } from './access-variables.ts';
import { type Backing, backingOf } from './backing.ts';
import { hubCheck, logCheck, mergedChecks } from './checks.ts';
import { openDirectory } from './directory.ts';
import { geocoderOf, geocoderVariables } from './geocoder-variables.ts';
import {
  openCheckpoints,
  openHub,
  openLog,
  openRegistry,
  openRegistryWithoutSecrets,
  openReportFiles,
  openServiceFiles,
  openVideoFiles,
  openWarehouse,
  registryName,
} from './open.ts';
import { patientCheckpoints, patientHub } from './patient.ts';
import { openTokens } from './tokens.ts';
import { logVariables, type ServerName, type serverVariables, serverVariablesWith } from './variables.ts';

/** The stores and other shared things that services use, by name. */
export interface Stores {
  log: Log;
  hub: Hub;
  checkpoints: Checkpoints;
  registry: Registry;
  warehouse: Warehouse;
  videoFiles: Files;
  reportFiles: Files;
  serviceFiles: Files;
  /** All definitions that are in force. */
  directory: Directory;
  /** Issues and verifies tokens of callers: needs `DATA_DIR` with the keys. */
  tokens: Tokens;
  geocoder: Geocoder;
}
export type StoreName = keyof Stores;

/** Options that stores are opened with. */
export interface StoreOptions {
  /** `withoutSecrets`: the service reads and stores no secrets, and needs no key for them. */
  registry?: Pick<RegistryOptions, 'quotas'> & { withoutSecrets?: true };
  warehouse?: WarehouseOptions;
}

/**
 * Functions that services of one process provide to each other. Absent if the other is in another process, or does not
 * run.
 */
export interface Neighbours {
  /** Makes the archiver write its collected rows at once. */
  hurryArchiver?: () => Promise<void>;
  /** How long the archiver may delay positions while nobody reads the archive. */
  archiveUnreadMs?: number;
  /** Notifies that vehicles' counters are being read. */
  countersRead?: () => void;
  /** Passes WebSocket upgrades for a path of the REST API's server to another service. */
  takeUpgrades?: (path: string, take: TakeUpgrade) => void;
  /** The ports of terminals, once they are open. */
  terminalPorts?: () => TerminalPorts;
}
export type TakeUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** Dependencies that a service is started with. `Name` are the stores that it requires. */
export type StartParts<V extends Variables, Name extends StoreName> = Pick<Stores, Name> & SharedParts<V>;

interface SharedParts<V extends Variables> {
  config: Config<V> & Config<typeof serverVariables> & Config<typeof hostVariables>;
  /** Folder for data without a server; null for a service in a process of its own. */
  folder: string | null;
  /** The file or the server of the registry, for messages to people. */
  registryName: string;
  /**
   * Updates the directory with what other instances committed before the call. Null in a process without other
   * instances, where a definition is in force at once.
   */
  refresh: (() => Promise<void>) | null;
  life: Lifecycle;
  /** Returns a logger whose lines name a part of the service. */
  loggerOf(part: string): Logger;
  metrics: Metrics;
  /** The metrics of this process, and who may read them. */
  metricsAccess: MetricsAccess;
  tracing: Tracing;
  clock: Clock;
  /** The clock's time in Unix milliseconds. */
  now: () => number;
  /** Whether the service has a process of its own. */
  isOwnProcess: boolean;
  /** Checks of all services in this process, for `/health/ready`: complete once all are started. */
  checks: Readonly<Record<string, ReadyCheck>>;
  neighbours: Readonly<Neighbours>;
}

/** A service that was started. */
export interface StartedService {
  /** Checks for `/health/ready`, in addition to those of its stores. */
  checks?: Readonly<Record<string, ReadyCheck>>;
  /** Ports that it listens on. */
  ports?: Readonly<Record<string, number>>;
  terminalPorts?: TerminalPorts;
  /** Absent for a service in a thread. */
  neighbours?: Neighbours;
}

/** The open ports of terminals, by protocol. */
export type TerminalPorts = Readonly<Record<'ports' | 'tlsPorts' | 'udpPorts', Partial<Record<ProtocolName, number>>>>;

/** The stores of a service, and how they are opened. */
export interface StoreUse<V extends Variables = Variables, Name extends StoreName = StoreName> {
  name: string;
  stores: readonly Name[];
  /** Called for each store of the service, with the stores named before it. */
  storeOptions?(config: Config<V>, parts: Pick<Stores, Name> & Pick<SharedParts<V>, 'loggerOf' | 'now'>): StoreOptions;
  /** Stores whose outages it waits out, instead of failing. */
  patient?: readonly ('checkpoints' | 'hub')[];
  /** Name of its group of definition readers. Default: the name of the service. */
  definitionsReader?: string;
  /** Called with each change of definitions by another instance. */
  onForeignChange?: (change: DefinitionChange, stores: Pick<Stores, Name>) => void;
}

/** A service, which may run in a process of its own, in a thread, or in a process with all services. */
export interface Service<V extends Variables = Variables, Name extends StoreName = StoreName, Prepared = unknown>
  extends StoreUse<V, Name> {
  settings: V;
  /** Additional settings of a service in a process of its own. */
  ownSettings?: Variables;
  /** Runs the service in a thread of its own, in a process with all services. */
  thread?: ServiceThread<V>;
  /** Called before any service of the process starts. */
  prepare?(parts: StartParts<V, Name>): Promise<Prepared>;
  start(parts: StartParts<V, Name> & { prepared: Prepared }): Promise<StartedService>;
}

export interface ServiceThread<V extends Variables = Variables> {
  /** `import.meta.url` of the module that exports it as `service`. */
  module: string;
  /** Whether it appends heavily to the log: commits are then spaced by `COMMIT_GAP_MS`. */
  isBusyWriter?: boolean;
  /** Size of V8's young generation in MiB. Default: V8 decides. */
  youngMb?: number;
  /** Runs the thread only while it is needed, and for a while after. Default: it always runs. */
  onDemand?: ThreadOnDemand<V>;
}

/** Stands in for a service while its thread does not run. */
export interface ThreadOnDemand<V extends Variables> {
  /** Names of its checks, which pass meanwhile. */
  checks: readonly string[];
  /**
   * Creates the function that the main thread calls every second.
   *
   * @returns when there is work for the service, in Unix milliseconds, including work that another instance may do;
   *   null: no work is known
   */
  workOf(parts: { config: Config<V>; registry: Registry; now: () => number }): () => Promise<number | null>;
}

/** Describes a service, with its settings and stores as types. */
export function defineService<const V extends Variables, const Name extends StoreName, Prepared = undefined>(
  service: Service<V, Name, Prepared>,
): Service<V, Name, Prepared> {
  return service;
}

/** By store, the servers that a service in a process of its own requires, and further settings. */
const NEEDED: Readonly<Record<StoreName, { servers: readonly ServerName[]; settings?: Variables }>> = {
  log: { servers: ['KAFKA_BROKERS'], settings: logVariables },
  hub: { servers: ['REDIS_URL'] },
  checkpoints: { servers: ['REDIS_URL'] },
  registry: { servers: ['DATABASE_URL'] },
  warehouse: { servers: ['CLICKHOUSE_URL'] },
  videoFiles: { servers: ['S3_URL'] },
  reportFiles: { servers: ['S3_URL'] },
  serviceFiles: { servers: ['S3_URL'] },
  directory: { servers: ['DATABASE_URL', 'KAFKA_BROKERS'] },
  tokens: { servers: ['DATABASE_URL'], settings: accessVariables },
  geocoder: { servers: [], settings: geocoderVariables },
};

/** Environment variables of a service in a process of its own. */
export function ownVariables({ settings, ownSettings, stores }: Pick<Service, 'settings' | 'ownSettings' | 'stores'>) {
  const servers = new Set(stores.flatMap((name) => NEEDED[name].servers));
  return {
    ...Object.assign({}, ...stores.map((name) => NEEDED[name].settings ?? {})),
    ...settings,
    ...ownSettings,
    ...serverVariablesWith([...servers]),
  } as Variables & typeof serverVariables & typeof logVariables;
}

/**
 * Runs a service in this process until a signal stops it or it fails, see {@link runService}. Its servers are those of
 * the settings.
 */
export function runAlone<V extends Variables, Name extends StoreName, Prepared>(
  service: Service<V, Name, Prepared>,
): Promise<never> {
  const variables = ownVariables(service as never);
  return runService(service.name, variables, async ({ config, processCheck, ...parts }) => {
    const context = {
      ...parts,
      config: config as never,
      backing: backingOf(config, null),
      loggerOf: () => parts.logger,
    };
    const checks: Record<string, ReadyCheck> = {};
    const { refresh, ...stores } = await openStores(service as never, context);
    const own = { ...placesOf(context.backing), refresh, isOwnProcess: true, checks, neighbours: {} };
    const started = await startService(service, { ...context, ...stores, ...own } as never);
    const found = [checksOf(stores, parts.now), started.checks ?? {}, { process: processCheck }];
    Object.assign(checks, mergedChecks(found));
    return { checks, ports: started.ports ?? {} };
  });
}

/** Locations of stores without a server, for {@link StartParts}. */
export function placesOf(backing: Backing) {
  const { folder } = backing;
  return { folder, registryName: folder === null && backing.databaseUrl === null ? 'none' : registryName(backing) };
}

/** Prepares a service and starts it. */
export async function startService<V extends Variables, Name extends StoreName, Prepared>(
  service: Service<V, Name, Prepared>,
  parts: StartParts<V, Name>,
): Promise<StartedService> {
  const prepared = (await service.prepare?.(parts)) as Prepared;
  return service.start({ ...parts, prepared });
}

export interface OpeningContext<V extends Variables> {
  config: Config<V>;
  backing: Backing;
  life: Lifecycle;
  loggerOf(part: string): Logger;
  metrics: Metrics;
  now: () => number;
}

/**
 * Opens stores in the order in which they are named; `life` closes them.
 *
 * @param given stores that are already open
 * @param open opens stores that need more than `backing`
 */
export async function openStores<V extends Variables, Name extends StoreName>(
  use: StoreUse<V, Name>,
  context: OpeningContext<V>,
  given: Partial<Stores> = {},
  open: Partial<{ log: () => Promise<Log>; warehouse: () => Promise<Warehouse> }> = {},
): Promise<Pick<Stores, Name> & { refresh: () => Promise<void> }> {
  const { config, backing, life, loggerOf, metrics, now } = context;
  const stores: Partial<Stores> = { ...given };
  const options = () => use.storeOptions?.(config, { ...(stores as Pick<Stores, Name>), loggerOf, now }) ?? {};
  let refresh = async () => {};
  const openers: Record<StoreName, () => Promise<void>> = {
    async log() {
      stores.log = await life.open('log', open.log ?? (() => openLog(backing, loggerOf('log'), metrics)));
    },
    async hub() {
      const logger = loggerOf('hub');
      stores.hub = await life.open('hub', async () => {
        const hub = await openHub(backing, logger);
        return use.patient?.includes('hub') ? patientHub(hub, logger) : hub;
      });
    },
    async checkpoints() {
      const logger = loggerOf('checkpoints');
      const isOutage = backing.redisUrl === null ? isDiskOutage : undefined;
      stores.checkpoints = await life.open('checkpoints', async () => {
        const checkpoints = await openCheckpoints(backing, logger);
        return use.patient?.includes('checkpoints') ? patientCheckpoints(checkpoints, logger, isOutage) : checkpoints;
      });
    },
    async registry() {
      const logger = loggerOf('registry');
      const { withoutSecrets = false, ...quotas } = options().registry ?? {};
      stores.registry = await life.open('registry', () =>
        withoutSecrets ? openRegistryWithoutSecrets(backing, logger) : openRegistry(backing, logger, quotas),
      );
    },
    async warehouse() {
      const opening = open.warehouse ?? (() => openWarehouse(backing, options().warehouse ?? {}));
      stores.warehouse = await life.open('warehouse', opening);
    },
    async videoFiles() {
      stores.videoFiles = await openVideoFiles(backing);
    },
    async reportFiles() {
      stores.reportFiles = await openReportFiles(backing);
    },
    async serviceFiles() {
      stores.serviceFiles = await openServiceFiles(backing);
    },
    async tokens() {
      const { tokens, close } = await openTokens(config as never, opened('registry'), loggerOf('auth'), now);
      life.own('keys', close);
      stores.tokens = tokens;
    },
    async directory() {
      const reader = use.definitionsReader ?? use.name;
      const definitions = await openDirectory(
        opened('registry'),
        opened('log'),
        reader,
        loggerOf('definitions'),
        (change) => use.onForeignChange?.(change, stores as Pick<Stores, Name>),
      );
      await life.start(definitions);
      stores.directory = definitions.directory;
      refresh = definitions.refresh;
    },
    async geocoder() {
      stores.geocoder = geocoderOf(config as never, loggerOf('geocoder'));
    },
  };
  for (const name of use.stores) if (stores[name] === undefined) await openers[name]();
  return { ...(stores as Pick<Stores, Name>), refresh };

  function opened<Of extends 'registry' | 'log'>(name: Of): Stores[Of] {
    const store = stores[name];
    if (store === undefined) throw new Error(`service ${use.name} does not name store ${name} before it is needed`);
    return store as Stores[Of];
  }
}

/** Checks of stores that are servers, or may be. */
export function checksOf(stores: Partial<Stores>, now: () => number = SYSTEM_CLOCK.now): Record<string, ReadyCheck> {
  const { log, hub, registry, warehouse } = stores;
  const files = stores.videoFiles ?? stores.reportFiles;
  return {
    ...(registry && { registry: () => registry.ping() }),
    ...(warehouse && { warehouse: () => warehouse.ping() }),
    ...(hub && { hub: hubCheck(hub, now) }),
    ...(log && { log: logCheck(log) }),
    ...(files && { files: () => files.ping() }),
  };
}
