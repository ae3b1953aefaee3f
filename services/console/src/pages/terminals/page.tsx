import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import '../../style/manage.css';
import { describeError } from '../../errors.ts';
import { Message } from '../../parts/message.tsx';
import { route } from '../../router.ts';
import { user } from '../../session.ts';
import { loadProtocols, terminalProtocols } from '../vehicles/protocols.ts';
import { vehicleWords } from '../vehicles/words.ts';
import { ArrivalCard } from './arrival.tsx';
import { Guide } from './guide.tsx';
import { type Added, Waiting } from './waiting.tsx';
import { terminalWords } from './words.ts';

/** Terminals that wait for a vehicle, and how to configure one for this service. */
export function TerminalsPage() {
  const added = useSignal<readonly Added[]>([]);
  const error = useSignal<unknown>(null);
  useEffect(() => {
    loadProtocols().catch((reason: unknown) => {
      error.value = reason;
    });
  }, [error]);
  return (
    <div class="terminals">
      <section aria-label={terminalWords().waiting}>
        <h2>{terminalWords().waiting}</h2>
        {added.value.map((vehicle) => (
          <ArrivalCard key={vehicle.id} {...vehicle} />
        ))}
        {user.value?.role === 'operator' ? (
          <Waiting onAdded={(vehicle) => (added.value = [vehicle, ...added.value])} />
        ) : (
          <Message icon="terminal" title={terminalWords().operatorsOnly}>
            <a class="button" href="/vehicles?vehicle=new">
              {vehicleWords().newVehicle}
            </a>
          </Message>
        )}
      </section>
      <section aria-label={terminalWords().guide}>
        <h2>{terminalWords().guide}</h2>
        {error.value !== null && <p class="error">{describeError(error.value)}</p>}
        {terminalProtocols.value !== null && (
          <Guide {...terminalProtocols.value} chosen={route.value.query.get('protocol')} />
        )}
      </section>
    </div>
  );
}
