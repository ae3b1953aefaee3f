import { createGuardedHttp } from '@outrider/channels';
import { SYSTEM_CLOCK } from '@outrider/domain';
import { type DestinationKind, ForwardingError, type Target, type TargetContext } from './destination-kind.ts';
import { egtsDestination } from './kinds/egts.ts';
import { httpDestination } from './kinds/http.ts';
import { kafkaDestination } from './kinds/kafka.ts';
import { mqttDestination } from './kinds/mqtt.ts';
import { wialonIpsDestination } from './kinds/wialon-ips.ts';

/** All kinds, by name. */
export const DESTINATIONS = {
  http: httpDestination,
  mqtt: mqttDestination,
  kafka: kafkaDestination,
  'wialon-ips': wialonIpsDestination,
  egts: egtsDestination,
} as const;
export type DestinationKindName = keyof typeof DESTINATIONS;
export const DESTINATION_KINDS = Object.keys(DESTINATIONS) as DestinationKindName[];

/** A kind by name, with any settings; null if no such kind exists. */
export function destinationKind(kind: string): DestinationKind<object> | null {
  return Object.hasOwn(DESTINATIONS, kind)
    ? (DESTINATIONS[kind as DestinationKindName] as unknown as DestinationKind<object>)
    : null;
}

/** Secrets of a destination, which are never shown. */
export interface TargetSecrets {
  secret: string | null;
  headers: Readonly<Record<string, string>>;
}

/** @throws {ForwardingError} when this version does not know the kind */
export function openTarget(
  { kind, settings }: { kind: string; settings: object },
  { secret, headers }: TargetSecrets,
  context: Omit<TargetContext, 'secretHeaders'>,
): Target {
  const of = destinationKind(kind);
  if (of === null) throw new ForwardingError(`There is no kind of destination ${kind}.`);
  return of.open(settings, secret, { ...context, secretHeaders: headers });
}

const TEST_TIMEOUT_MS = 15_000;
const TEST_MAX_RESPONSE_BYTES = 64 * 1024;

/**
 * Tests once whether the receiving system accepts data.
 *
 * @returns why it does not, as a sentence; null when it does
 */
export async function testDestination(
  destination: { id: string; kind: string; settings: object },
  secrets: TargetSecrets,
  allowPrivateAddresses: boolean,
): Promise<string | null> {
  const { now } = SYSTEM_CLOCK;
  const bounds = { timeoutMs: TEST_TIMEOUT_MS, maxResponseBytes: TEST_MAX_RESPONSE_BYTES };
  const http = createGuardedHttp({ allowPrivateAddresses, now, ...bounds });
  let target: Target | null = null;
  try {
    target = openTarget(destination, secrets, { id: destination.id, isTest: true, http, allowPrivateAddresses, now });
    await target.test();
    return null;
  } catch (error) {
    if (error instanceof ForwardingError) return error.message;
    throw error;
  } finally {
    await target?.close();
    await http.close();
  }
}
