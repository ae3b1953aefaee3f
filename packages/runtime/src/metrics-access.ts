import { hash, timingSafeEqual } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import { type Clock, SYSTEM_CLOCK } from '@outrider/domain';
import { optionalPort, secret, type Variables } from './config.ts';
import { sharedFor } from './shared-for.ts';

/** Settings of the access to metrics. */
export const metricsVariables = {
  METRICS_TOKEN: secret(
    'Token for reading `/metrics` from other machines (`Authorization: Bearer <token>`). If unset, only this machine can read it.',
  ),
  METRICS_PORT: optionalPort(
    'Additional port that serves only `/metrics`, for a network that only Prometheus can reach. It requires a token only if `METRICS_TOKEN` is set. If unset, there is no such port.',
  ),
} satisfies Variables;

/** The part of a request that decides whether it is answered. */
export interface MetricsRequest {
  /** Remote address of the connection itself, never one that a header claims. */
  peer: string | undefined;
  /** A request header by its lower-case name. */
  header(name: string): string | undefined;
}

export type MetricsAnswer = { text: string } | { refused: string };

export interface MetricsAccess {
  /** Answers callers on this machine, and others with the token. */
  read(request: MetricsRequest): Promise<MetricsAnswer>;
  /** Answers all callers, or only those with the token if one is set: for a port of its own. */
  readOnOwnPort(request: MetricsRequest): Promise<MetricsAnswer>;
  /** Metrics for the service itself, which decides who may see them. */
  text(): Promise<string>;
}

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';
/** Value of `WWW-Authenticate` in a refusal. */
export const METRICS_CHALLENGE = 'Bearer realm="outrider metrics"';
const REFUSED = 'Metrics are shown to callers on the same machine, and to others with METRICS_TOKEN as a bearer token.';
/** Prometheus scrapes every few seconds: newer values are not needed. */
const KEPT_MS = 1000;
/**
 * A request with one of these headers came through a proxy: it did not begin on this machine, even if the proxy runs
 * here.
 */
const FORWARDING_HEADERS = ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via'];

/**
 * Guards the metrics of a service: they show what the service is made of, and cost much to write.
 *
 * @param text writes the metrics; called at most once a second, once for all callers that wait
 * @param token null: only callers on this machine are answered
 */
export function createMetricsAccess(
  text: () => Promise<string>,
  token: string | null,
  clock: Clock = SYSTEM_CLOCK,
): MetricsAccess {
  const shared = sharedFor(KEPT_MS, text, clock);
  const answer = async (isAllowed: boolean) => (isAllowed ? { text: await shared() } : { refused: REFUSED });
  const hasToken = ({ header }: MetricsRequest) => token !== null && isBearer(header('authorization'), token);
  return {
    read: (request) => answer(hasToken(request) || isFromThisMachine(request)),
    readOnOwnPort: (request) => answer(token === null || hasToken(request)),
    text: shared,
  };
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** Whether the address is of this machine's loopback interface, as IPv4, IPv6, or IPv4 mapped to IPv6. */
export function isLoopback(address: string | undefined): boolean {
  if (address === undefined) return false;
  const version = isIP(address);
  return version !== 0 && LOOPBACK.check(address, version === 6 ? 'ipv6' : 'ipv4');
}

function isFromThisMachine({ peer, header }: MetricsRequest): boolean {
  return isLoopback(peer) && FORWARDING_HEADERS.every((name) => header(name) === undefined);
}

function isBearer(header: string | undefined, token: string): boolean {
  const given = /^Bearer +(\S+)$/i.exec(header ?? '')?.[1];
  // Hashes have equal lengths, which timingSafeEqual requires.
  return given !== undefined && timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', token, 'buffer'));
}
