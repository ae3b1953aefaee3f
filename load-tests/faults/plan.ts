import { createRandom, type Random } from '@outrider/simulator';
import type { Direction, Silence } from './proxy.ts';

export const KINDS = ['kill', 'stop', 'cut', 'delay', 'halve', 'disk', 'clock'] as const;
export type Kind = (typeof KINDS)[number];

/** Where each kind of fault can be. */
export type Places = Readonly<Record<Kind, readonly string[]>>;

/** One fault of a round. */
export interface Fault {
  kind: Kind;
  place: string;
  /** From the beginning of the round. */
  beginsAfterMs: number;
  lastsMs: number;
  how: How;
}

/** What is particular to a kind. */
export type How =
  | { kind: 'kill' | 'stop' | 'disk' }
  | { kind: 'cut'; times: number }
  | { kind: 'delay'; delayMs: number }
  | { kind: 'halve'; silent: Direction; silence: Silence }
  | { kind: 'clock'; offsetSeconds: number };

const MINUTE_SECONDS = 60;
const DAY_SECONDS = 86_400;
/** All faults of a round begin within this. */
const BEGIN_WITHIN_MS = 2000;
/** How long each fault lasts. A killed service is started again by itself. */
const LASTS_MS: Record<Kind, readonly [from: number, to: number]> = {
  kill: [0, 0],
  stop: [3500, 6000],
  cut: [500, 3000],
  delay: [1500, 4000],
  halve: [2000, 5000],
  disk: [2500, 4000],
  clock: [2500, 5000],
};

/**
 * Which faults each round has: one of each kind, at a place of its own. A kind goes through all its places before it
 * comes to one again. What is to be in one place at a time (proxies: cut, delay, halve) never meets another of its kind
 * there.
 */
export function planRounds(seed: number, count: number, kinds: readonly Kind[], places: Places): Fault[][] {
  const random = createRandom(seed);
  const orders = new Map(kinds.map((kind) => [kind, shuffled(places[kind], random)]));
  // Those of the proxies go round the same circle, at a distance.
  const links = orders.get('cut') ?? orders.get('delay') ?? orders.get('halve') ?? [];
  const ahead: Partial<Record<Kind, number>> = {
    cut: 0,
    delay: Math.floor(links.length / 3),
    halve: Math.floor((2 * links.length) / 3),
  };
  return Array.from({ length: count }, (_, nth) =>
    kinds.flatMap((kind): Fault[] => {
      const order = kind in ahead ? links : (orders.get(kind) ?? []);
      const place = order[(nth + (ahead[kind] ?? 0)) % order.length];
      if (place === undefined) return [];
      const [from, to] = LASTS_MS[kind];
      return [
        {
          kind,
          place,
          beginsAfterMs: Math.round(random.between(0, BEGIN_WITHIN_MS)),
          lastsMs: Math.round(random.between(from, to)),
          how: howOf(kind, nth, random),
        },
      ];
    }),
  );
}

function howOf(kind: Kind, nth: number, random: Random): How {
  switch (kind) {
    case 'cut':
      return { kind, times: 1 + Math.floor(random.next() * 4) };
    case 'delay':
      return { kind, delayMs: Math.round(random.between(50, 1500)) };
    case 'halve':
      return {
        kind,
        silent: random.pick(['to-server', 'to-client'] as const),
        silence: random.pick(['late', 'never'] as const),
      };
    case 'clock': {
      // From minutes to days, each order of magnitude as often, now forwards, now backwards.
      const magnitude = MINUTE_SECONDS * ((3 * DAY_SECONDS) / MINUTE_SECONDS) ** random.next();
      return { kind, offsetSeconds: Math.round(magnitude) * (nth % 2 === 0 ? 1 : -1) };
    }
    default:
      return { kind };
  }
}

/** The fault as it is printed: what, where, and how. */
export function describeFault({ kind, place, how }: Fault): string {
  switch (how.kind) {
    case 'cut':
      return `cut ${place} ×${how.times}`;
    case 'delay':
      return `delay ${place} ${how.delayMs} ms`;
    case 'halve':
      return `halve ${place} ${how.silent} ${how.silence}`;
    case 'clock':
      return `clock ${place} ${how.offsetSeconds > 0 ? '+' : ''}${how.offsetSeconds} s`;
    default:
      return `${kind} ${place}`;
  }
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  const order = [...items];
  for (let at = order.length - 1; at > 0; at--) {
    const other = Math.floor(random.next() * (at + 1));
    [order[at], order[other]] = [order[other] as T, order[at] as T];
  }
  return order;
}
