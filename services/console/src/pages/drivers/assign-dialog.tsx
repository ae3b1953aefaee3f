import { ApiError, type DriverAssignment } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { drivers } from '../../drivers/drivers.ts';
import { driverWords } from '../../drivers/words.ts';
import { describeError } from '../../errors.ts';
import { fleet } from '../../fleet/store.ts';
import { CancelButton, SubmitButton } from '../../parts/buttons.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/forms/field.tsx';
import { Picker, VehiclePicker } from '../../parts/forms/picker.tsx';
import { Failure } from '../../parts/message.tsx';
import { toast } from '../../parts/toast.tsx';
import { preferences } from '../../preferences.ts';
import { api } from '../../session.ts';
import { localText, timeOfLocalText } from '../../time-range.ts';
import { intervalText, nameOfDriver } from './assignments.tsx';

interface Props {
  driverId: string | null;
  vehicleId: string | null;
  onClose: () => void;
  onAssigned: () => void;
}

const MINUTE_MS = 60_000;

/** Assigns a driver to a vehicle for an interval. Conflicting assignments are shown and can be ended there. */
export function AssignDialog({ driverId, vehicleId, onClose, onAssigned }: Props) {
  const { timeZone } = preferences.value;
  const words = driverWords();
  const driver = useSignal(driverId);
  const vehicle = useSignal(vehicleId);
  const fromMs = useSignal<number | null>(Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS);
  const toMs = useSignal<number | null>(null);
  const error = useSignal<unknown>(null);
  const isBusy = useSignal(false);
  const { found: others, again } = useOverlapping(vehicle.value, fromMs.value, toMs.value);
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    if (driver.value === null || vehicle.value === null || fromMs.value === null) return;
    isBusy.value = true;
    try {
      const to = toMs.value === null ? null : new Date(toMs.value).toISOString();
      const from = new Date(fromMs.value).toISOString();
      await api.post('/api/v1/driver-assignments', {
        body: { vehicleId: vehicle.value, driverId: driver.value, from, to },
      });
      toast(words.assigned(nameOfDriver(driver.value), nameOfVehicle(vehicle.value)));
      onAssigned();
    } catch (reason) {
      error.value = reason;
      again();
    } finally {
      isBusy.value = false;
    }
  };
  const endOther = async ({ id, from }: DriverAssignment) => {
    if (fromMs.value === null) return;
    try {
      // An assignment that begins within the interval cannot be ended before its start, so it is deleted.
      if (Date.parse(from) >= fromMs.value) await api.delete('/api/v1/driver-assignments/{id}', { path: { id } });
      else
        await api.patch('/api/v1/driver-assignments/{id}', {
          path: { id },
          body: { to: new Date(fromMs.value).toISOString() },
        });
      error.value = null;
    } catch (reason) {
      error.value = reason;
    }
    again();
  };
  const dealerId = fleet.vehicles[fleet.indexOf(vehicle.value ?? '')]?.dealerId;
  const choosable = (drivers.value ?? []).filter((each) => dealerId === undefined || each.dealerId === dealerId);
  const at = (pointer: string) => (error.value instanceof ApiError ? error.value.at(pointer) : []);
  const isWhole = driver.value !== null && vehicle.value !== null && fromMs.value !== null;
  return (
    <Dialog title={words.assignTitle} onClose={onClose}>
      <form class="body" onSubmit={(event) => void save(event)}>
        <VehiclePicker
          label={words.vehicle}
          isSingle
          chosen={vehicle.value === null ? [] : [vehicle.value]}
          errors={at('/vehicleId')}
          onChange={([chosen = null]) => (vehicle.value = chosen)}
        />
        <Picker
          label={words.driver}
          isSingle
          items={choosable.map(({ id, name, codes }) => ({ id, name, hint: codes.join(', ') }))}
          chosen={driver.value === null ? [] : [driver.value]}
          errors={at('/driverId')}
          onChange={([chosen = null]) => (driver.value = chosen)}
        />
        <div class="pair">
          <Field
            label={words.from}
            type="datetime-local"
            required
            errors={at('/from')}
            value={fromMs.value === null ? '' : localText(fromMs.value, timeZone)}
            onChange={(event) => (fromMs.value = timeOfLocalText(event.currentTarget.value, timeZone))}
          />
          <Field
            label={words.until}
            type="datetime-local"
            hint={words.untilHint}
            errors={at('/to')}
            value={toMs.value === null ? '' : localText(toMs.value, timeZone)}
            onChange={(event) => (toMs.value = timeOfLocalText(event.currentTarget.value, timeZone))}
          />
        </div>
        <Overlapping others={others.value} fromMs={fromMs.value} onEnd={(other) => void endOther(other)} />
        {error.value !== null && <Failure>{describeError(error.value)}</Failure>}
        <div class="actions">
          <SubmitButton disabled={!isWhole || isBusy.value || others.value.length > 0}>{words.assign}</SubmitButton>
          <CancelButton onClick={onClose} />
        </div>
      </form>
    </Dialog>
  );
}

/** Existing assignments of the vehicle in the interval; empty while they are loaded. */
function useOverlapping(vehicleId: string | null, fromMs: number | null, toMs: number | null) {
  const found = useSignal<readonly DriverAssignment[]>([]);
  const reads = useSignal(0);
  useEffect(() => {
    const ending = new AbortController();
    found.value = [];
    if (vehicleId === null || fromMs === null) return;
    const to = toMs === null ? {} : { to: new Date(toMs).toISOString() };
    const query = { vehicleId, from: new Date(fromMs).toISOString(), ...to };
    api.get('/api/v1/driver-assignments', { query, signal: ending.signal }).then(
      ({ items }) => (found.value = items),
      () => {},
    );
    return () => ending.abort();
  }, [vehicleId, fromMs, toMs, reads.value]);
  return { found, again: () => (reads.value += 1) };
}

interface OverlappingProps {
  others: readonly DriverAssignment[];
  fromMs: number | null;
  onEnd: (other: DriverAssignment) => void;
}

function Overlapping({ others, fromMs, onEnd }: OverlappingProps) {
  const words = driverWords();
  if (others.length === 0) return null;
  return (
    <section class="conflict">
      <p>{words.overlaps}</p>
      <ul class="slips">
        {others.map((other) => (
          <li key={other.id} class="slip">
            <strong>
              <bdi>{nameOfDriver(other.driverId)}</bdi>
            </strong>
            <small>{intervalText(other)}</small>
            <span class="actions">
              <button type="button" onClick={() => onEnd(other)}>
                {Date.parse(other.from) >= (fromMs ?? 0) ? words.takeBack : words.endBefore}
              </button>
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function nameOfVehicle(id: string): string {
  return fleet.vehicles[fleet.indexOf(id)]?.name ?? '–';
}
