import type { VehicleCounters as Counters, CustomCounter, LiveCounters, User } from '@outrider/client';
import { useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { describeError } from '../errors.ts';
import { formats } from '../format.ts';
import { live } from '../live/live.ts';
import { IconButton } from '../parts/buttons.tsx';
import { Icon } from '../parts/icon.tsx';
import { useFresh } from '../parts/loading/fresh.ts';
import { lazy } from '../parts/loading/lazy.tsx';
import { api, user } from '../session.ts';
import '../style/maintenance.css';
import { t } from '../words/words.ts';
import { Corrections } from './corrections.tsx';
import { maintenanceWords } from './words.ts';

/** Operators and dealers may edit counters and plans; users only if the right was granted to them. */
export function mayMaintain({ role, services }: User): boolean {
  return role !== 'user' || services.includes('maintenance');
}

/** Interval at which the corrections of a vehicle with growing counters are read. */
const CORRECTIONS_MS = 10_000;
const CustomCounterDialog = lazy(async () => (await import('./custom-counter-dialog.tsx')).CustomCounterDialog);
const CorrectionDialog = lazy(async () => (await import('./correction-dialog.tsx')).CorrectionDialog);

/** The last counters from the live API, if they belong to the vehicle. */
function newsOf(vehicleId: string): LiveCounters | undefined {
  return live.counters.peek().find((each) => each.vehicleId === vehicleId);
}

/** Odometer, engine hours and custom counters of a vehicle, and the buttons that make and correct them. */
export function VehicleCounters({ vehicleId }: { vehicleId: string }) {
  const words = maintenanceWords();
  const counters = useFresh<Counters | null>(null, [vehicleId]);
  const error = useFresh<string | null>(null, [vehicleId]);
  const again = useRef<ReturnType<typeof setTimeout> | null>(null);
  const isCorrecting = useSignal(false);
  const edited = useSignal<CustomCounter | 'new' | null>(null);
  const read = (signal?: AbortSignal) =>
    api.get('/api/v1/vehicles/{id}/counters', { path: { id: vehicleId }, ...(signal && { signal }) }).then(
      (value) => {
        const news = newsOf(vehicleId);
        // A live message may have arrived during the request.
        counters.value = news !== undefined && (news.at ?? '') > (value.at ?? '') ? { ...value, ...news } : value;
        error.value = null;
      },
      (reason: unknown) => {
        if (!signal?.aborted) error.value = describeError(reason);
      },
    );
  useEffect(
    () => () => {
      clearTimeout(again.current ?? undefined);
      again.current = null;
    },
    [vehicleId],
  );
  useEffect(() => {
    const ending = new AbortController();
    void read(ending.signal);
    return () => ending.abort();
    // The live API sends changes, but not those made while it was unavailable.
  }, [vehicleId, live.resumed.value]);
  useSignalEffect(() => {
    const known = counters.peek();
    const news = live.counters.value.length > 0 ? newsOf(vehicleId) : undefined;
    if (news === undefined || known === null) return;
    counters.value = { ...known, ...news };
    // If nothing was counted, somebody corrected a counter, and the list of corrections is read as well. For a driving
    // vehicle, the message does not show which of the two it was.
    if (news.at === known.at) void read();
    else
      again.current ??= setTimeout(() => {
        again.current = null;
        void read();
      }, CORRECTIONS_MS);
  });
  const { value } = counters;
  const maintains = user.value != null && mayMaintain(user.value);
  return (
    <section>
      <h3>{words.counters}</h3>
      {error.value !== null && <p class="error">{error.value}</p>}
      {value !== null && (
        <>
          <dl class="facts">
            <dt>{words.names.odometer}</dt>
            <dd>
              <bdi>{formats().distance(value.odometerM)}</bdi>
            </dd>
            <dt>{words.names['engine-hours']}</dt>
            <dd>
              <bdi>{words.hours(formats().number(value.engineHours, 1))}</bdi>
            </dd>
            {value.custom.map((counter) => (
              <Custom key={counter.id} counter={counter} onEdit={maintains ? () => (edited.value = counter) : null} />
            ))}
          </dl>
          {!value.settled && <p class="note">{words.recounting}</p>}
          <Corrections
            vehicleId={vehicleId}
            corrections={value.corrections}
            custom={value.custom}
            maintains={maintains}
            onChanged={() => void read()}
          />
          <div class="actions">
            {maintains && (
              <button type="button" onClick={() => (isCorrecting.value = true)}>
                <Icon name="edit" /> {words.correct}
              </button>
            )}
            {maintains && (
              <button type="button" onClick={() => (edited.value = 'new')}>
                <Icon name="plus" /> {words.newCounter}
              </button>
            )}
            <a class="button" href={`/maintenance?vehicle=${vehicleId}`}>
              <Icon name="wrench" /> {t().pages.maintenance}
            </a>
          </div>
        </>
      )}
      {edited.value !== null && (
        <CustomCounterDialog
          vehicleId={vehicleId}
          counter={edited.value === 'new' ? null : edited.value}
          onClose={() => (edited.value = null)}
          onSaved={() => {
            edited.value = null;
            void read();
          }}
        />
      )}
      {isCorrecting.value && value !== null && (
        <CorrectionDialog
          vehicleId={vehicleId}
          counters={value}
          onClose={() => (isCorrecting.value = false)}
          onSaved={() => {
            isCorrecting.value = false;
            void read();
          }}
        />
      )}
    </section>
  );
}

function Custom({ counter, onEdit }: { counter: CustomCounter; onEdit: (() => void) | null }) {
  const { name, unit, value } = counter;
  return (
    <>
      <dt>
        <bdi>{name}</bdi>
      </dt>
      <dd>
        <bdi>{`${formats().number(value, 1)} ${unit}`.trimEnd()}</bdi>{' '}
        {onEdit !== null && (
          <IconButton icon="edit" label={`${maintenanceWords().counter}: ${name}`} onClick={onEdit} />
        )}
      </dd>
    </>
  );
}
