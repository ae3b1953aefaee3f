import type { GuardedHttp } from '@outrider/channels';
import {
  type FleetEvent,
  type Position,
  SYSTEM_CLOCK,
  type TerminalId,
  type Timer,
  type VehicleId,
} from '@outrider/domain';

/** A position or an event that is forwarded to another system. */
export interface ForwardedItem {
  vehicleId: VehicleId;
  vehicleName: string;
  fact:
    | { type: 'position'; position: Position; terminalId: TerminalId }
    | { type: 'event'; event: FleetEvent; removed: boolean };
  /** The item in the JSON form of the feeds. */
  json(): Record<string, unknown>;
}

/** Items, in the order in which they must arrive. */
export interface ForwardedBatch {
  /** Identical when the same items are sent again. Letters, digits, hyphens, underscores. */
  id: string;
  items: readonly ForwardedItem[];
}

/** Items that a target refused for good. */
export interface Refusals {
  count: number;
  /** The last reason; null: nothing was refused. */
  reason: string | null;
}

/** The receiving system did not accept a batch, but may accept it later. */
export class ForwardingError extends Error {
  override name = 'ForwardingError';
  /** Wait that the receiving system requested before a retry; null: none. */
  readonly retryAfterMs: number | null;

  constructor(message: string, retryAfterMs: number | null = null) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

/** A receiving system. Connects with the first batch. After an error, it is closed and another one is opened. */
export interface Target {
  /**
   * Resolves when the receiving system has confirmed every item that it did not refuse.
   *
   * @throws {ForwardingError} when it did not within {@link SEND_TIMEOUT_MS}: some items may have arrived
   */
  send(batch: ForwardedBatch): Promise<Refusals>;
  /**
   * Tests whether the receiving system accepts data, with a test message or a login.
   *
   * @throws {ForwardingError} with the reason, if it does not
   */
  test(): Promise<void>;
  close(): Promise<void>;
}

/** Context in which targets are opened. */
export interface TargetContext {
  /** Id of the destination. */
  id: string;
  /** Whether the owner tests the destination: its responses are not known yet. */
  isTest: boolean;
  http: GuardedHttp;
  /** Whether plain HTTP, and addresses inside the own network, are allowed. */
  allowPrivateAddresses: boolean;
  /** CA certificates in PEM, which replace those of the system. */
  ca?: string | undefined;
  /** Secret headers of HTTP calls, which are never shown. */
  secretHeaders?: Readonly<Record<string, string>>;
  /** Unix milliseconds. */
  now(): number;
}

/** Fault in the settings of a destination: its place as a JSON pointer, and the reason. */
export interface SettingsFault {
  pointer: string;
  detail: string;
}

/** A kind of destination. `Settings` are shown to the owner; the secret never is. */
export interface DestinationKind<Settings extends object> {
  /** Whether its protocol can transmit events. */
  carriesEvents: boolean;
  /** Names of all its settings: a destination has no other. */
  settingNames: readonly (keyof Settings & string)[];
  /** Null where nothing is. */
  fault(settings: Settings, options: { allowPrivateAddresses: boolean }): SettingsFault | null;
  /** Null where nothing is. */
  secretFault(settings: Settings, secret: string | null): string | null;
  /** Fault of secret headers; kinds without this method have no such headers. */
  secretHeadersFault?(settings: Settings, headers: Readonly<Record<string, string>>): SettingsFault | null;
  /** Host and port of the receiving system. */
  endpointOf(settings: Settings): string;
  open(settings: Settings, secret: string | null, context: TargetContext): Target;
}

/** Time within which a batch is confirmed, or has failed. */
export const SEND_TIMEOUT_MS = 30_000;
/** Time within which a connection is made, including its login. */
export const CONNECT_TIMEOUT_MS = 10_000;

/** @throws {ForwardingError} when the work takes longer */
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
