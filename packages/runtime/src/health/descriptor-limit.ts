import { readFileSync } from 'node:fs';
import type { Config, Variables } from '../config.ts';

/** Descriptors for files, databases, and connections to servers. */
const OTHER_DESCRIPTORS = 500;

/** Why the limit of open files is too low for the settings, and what to do about it. */
export interface DescriptorShortage {
  limit: number;
  needed: number;
  detail: string;
  todo: string;
}

/**
 * Maximum number of files that this process may have open. Node raises its own limit (the soft one) to the highest that
 * the system allows (the hard one) before any code runs. Null if the system does not show it.
 */
export function descriptorLimit(): number | null {
  try {
    return limitIn(readFileSync('/proc/self/limits', 'utf8'));
  } catch {
    // Not Linux, or /proc is hidden.
    return null;
  }
}

/** @param text of `/proc/<pid>/limits` @returns null if it sets no limit */
export function limitIn(text: string): number | null {
  const limit = /^Max open files\s+(\d+)/m.exec(text)?.[1];
  return limit === undefined ? null : Number(limit);
}

/** The settings that allow connections, and how many each allows. */
export function allowedConnections<V extends Variables>(variables: V, config: Config<V>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(variables)
      .filter(([, { allowsConnections }]) => allowsConnections)
      .map(([name]) => [name, Number(config[name])]),
  );
}

/**
 * Compares the limit of open files with the connections that settings allow, each of which is an open file.
 *
 * @param limit see {@link descriptorLimit}
 * @param allowed see {@link allowedConnections}
 * @returns null if the limit suffices
 */
export function descriptorShortage(
  limit: number | null,
  allowed: Readonly<Record<string, number>>,
): DescriptorShortage | null {
  const needed = Object.values(allowed).reduce((sum, connections) => sum + connections, OTHER_DESCRIPTORS);
  if (limit === null || limit >= needed) return null;
  const settings = Object.keys(allowed).join(' + ');
  return {
    limit,
    needed,
    detail: `the limit is ${limit}; ${settings}, and files, need ${needed}`,
    todo: `raise the hard limit to ${needed} (LimitNOFILE of systemd, ulimits of docker compose, the container runtime of Kubernetes, ulimit -Hn elsewhere), or lower these settings`,
  };
}
