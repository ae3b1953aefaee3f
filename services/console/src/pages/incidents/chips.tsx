import type { Incident } from '@outrider/client';
import { incidentWords } from './words.ts';

/** Shows severity and state. */
export function Chips({ incident: { severity, state } }: { incident: Pick<Incident, 'severity' | 'state'> }) {
  const { severities, states } = incidentWords();
  return (
    <>
      <span class={`chip severity-${severity}`}>{severities[severity]}</span> · {states[state]}
    </>
  );
}
