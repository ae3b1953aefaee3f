import type { TerminalProtocols, Vehicle } from '@outrider/client';
import { signal } from '@preact/signals';
import { api } from '../../session.ts';
import { vehicleWords } from './words.ts';

export type BoundProtocol = Vehicle['terminalAccess']['protocol'];
export type TerminalProtocol = TerminalProtocols['items'][number];

/** Supported protocols by title, and their ports; null: not loaded yet. */
export const terminalProtocols = signal<TerminalProtocols | null>(null);

export async function loadProtocols(): Promise<void> {
  const { host, items } = await api.get('/api/v1/terminal-protocols');
  terminalProtocols.value = { host, items: items.toSorted((a, b) => a.title.localeCompare(b.title, 'en')) };
}

/** Protocols that a vehicle's terminal can be bound to. */
export function boundProtocols(): readonly (readonly [BoundProtocol, string])[] {
  const { learn, any } = vehicleWords().protocols;
  const known = (terminalProtocols.value?.items ?? []).map(
    ({ name, title }) => [name as BoundProtocol, title] as const,
  );
  return [['learn', learn], ['any', any], ...known];
}

export function protocolTitle(name: string): string {
  return boundProtocols().find(([one]) => one === name)?.[1] ?? name;
}

/**
 * Models to choose from for a vehicle's terminal.
 *
 * @param protocol protocol of the vehicle; all models if left out, or if it is not the name of a protocol
 */
export function modelsFor(
  protocols: readonly Pick<TerminalProtocol, 'name' | 'models'>[],
  protocol?: string,
): readonly string[] {
  const bound = protocols.filter(({ name }) => name === protocol);
  return (bound.length > 0 ? bound : protocols).flatMap(({ models }) => models);
}
