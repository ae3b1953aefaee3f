import type { GuardedHttp } from '@outrider/channels';
import {
  type FleetEvent,
  type Position,
  SYSTEM_CLOCK,
  type TerminalId,
  type Timer,
  type VehicleId,
} from '@outrider/domain';

/** A position or an event on its way to another system. */
export interface ForwardedItem {
  vehicleId: VehicleId;
  vehicleName: string;
  fact:
    | { type: 'position'; position: Position; terminalId: TerminalId }
    | { type: 'event'; event: FleetEvent; removed: boolean };
  /** As the feeds show it. */
  json(): Record<string, unknown>;
}

/** Items in the order in which they are to arrive. */
export interface ForwardedBatch {
  /** The same when the same items are sent once more. Letters, digits, hyphens, underscores. */
  id: string;
  items: readonly ForwardedItem[];
}

/** What a target did not take, and will not take later either. */
export interface Refusals {
  count: number;
  /** The last reason; null: nothing was refused. */
  reason: string | null;
}

/** The receiving system did not take a batch, and may take it later. */
export class ForwardingError extends Error {
  override name = 'ForwardingError';
  /** How long it asked to be left alone; null: it did not. */
  readonly retryAfterMs: number | null;

  constructor(message: string, retryAfterMs: number | null = null) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

/** A receiving system. Connects with the first batch. After an error it is closed, and another one opened. */
export interface Target {
  /**
   * Resolves when the receiving system has confirmed every item that it did not refuse.
   *
   * @throws {ForwardingError} where it did not within {@link SEND_TIMEOUT_MS}: some items may have arrived
   */
  send(batch: ForwardedBatch): Promise<Refusals>;
  /**
   * Tries whether the receiving system takes something, by a message of its own or a login.
   *
   * @throws {ForwardingError} why it does not
   */
  test(): Promise<void>;
  close(): Promise<void>;
}

/** What targets are opened with. */
export interface TargetContext {
  /** Of the destination. */
  id: string;
  /** The owner tries it: what it answers is not known yet. */
  isTest: boolean;
  http: GuardedHttp;
  /** Also plain http, and addresses inside the own network. */
  allowPrivateAddresses: boolean;
  /** Certificates of authorities in PEM, in place of those of the system. */
  ca?: string | undefined;
  /** Headers of HTTP calls that nobody is shown. */
  secretHeaders?: Readonly<Record<string, string>>;
  /** Unix milliseconds. */
  now(): number;
}

/** What is wrong with the settings of a destination: where in them, as a JSON pointer, and why. */
export interface SettingsFault {
  pointer: string;
  detail: string;
}

/** A way of forwarding. `Settings` are shown to the owner; the secret never is. */
export interface DestinationKind<Settings extends object> {
  /** Whether its protocol has events. */
  carriesEvents: boolean;
  /** Names of all its settings: a destination has no other. */
  settingNames: readonly (keyof Settings & string)[];
  /** Null where nothing is. */
  fault(settings: Settings, options: { allowPrivateAddresses: boolean }): SettingsFault | null;
  /** Null where nothing is. */
  secretFault(settings: Settings, secret: string | null): string | null;
  /** What is wrong with headers that nobody is shown; kinds without it have none. */
  secretHeadersFault?(settings: Settings, headers: Readonly<Record<string, string>>): SettingsFault | null;
  /** Host and port of the receiving system. */
  endpointOf(settings: Settings): string;
  open(settings: Settings, secret: string | null, context: TargetContext): Target;
}

/** A batch is confirmed within this time, or has failed. */
export const SEND_TIMEOUT_MS = 30_000;
/** A connection is made, its login included, within this time. */
export const CONNECT_TIMEOUT_MS = 10_000;

/** @throws {ForwardingError} where the work takes longer */
export async function within<T>(timeoutMs: number, work: Promise<T>, what: string): Promise<T> {
  let timer: Timer | undefined;
  const late = new Promise<never>((_, reject) => {
    const seconds = timeoutMs / 1000;
    timer = SYSTEM_CLOCK.after(timeoutMs, () => reject(new ForwardingError(`${what} within ${seconds} seconds.`)));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    timer?.cancel();
  }
}
