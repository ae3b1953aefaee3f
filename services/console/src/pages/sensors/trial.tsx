import { ApiError, type SensorTrial } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { describeError } from '../../errors.ts';
import { formats } from '../../format.ts';
import { api } from '../../session.ts';
import { type SensorDraft, termsOf } from './draft.ts';
import { words } from './words.ts';

/** Delay after the last keystroke. */
const TYPING_MS = 400;
const SHOWN = 8;

export interface Trial {
  result: SensorTrial | null;
  error: unknown;
  isRunning: boolean;
}

/** Values that the edited sensor would have had in the vehicle's last records. */
export function useTrial(vehicleId: string, sensor: SensorDraft): Trial {
  const trial = useSignal<Trial>({ result: null, error: null, isRunning: true });
  const terms = JSON.stringify(termsOf(sensor));
  useEffect(() => {
    const ending = new AbortController();
    const end = (result: SensorTrial | null, error: unknown) => {
      if (!ending.signal.aborted) trial.value = { result, error, isRunning: false };
    };
    if (sensor.source.trim() === '') {
      end(null, null);
      return;
    }
    trial.value = { ...trial.peek(), isRunning: true };
    const timer = setTimeout(() => {
      const options = { path: { id: vehicleId }, body: JSON.parse(terms), signal: ending.signal };
      api.post('/api/v1/vehicles/{id}/sensor-trial', options).then(
        (result) => end(result, null),
        (error: unknown) => end(trial.peek().result, error),
      );
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
      ending.abort();
    };
  }, [vehicleId, terms, trial]);
  return trial.value;
}

/** Errors of one field of the tried sensor. */
export function trialErrors({ error }: Trial, field: string): string[] {
  return error instanceof ApiError ? error.at(`/${field}`) : [];
}

/** The newest record with a raw value. */
export function newestOf({ result }: Trial): { raw: number; value: number | null } | null {
  const found = result?.records.findLast(({ raw }) => raw !== null);
  return found === undefined || found.raw === null ? null : { raw: found.raw, value: found.value };
}

/** Raw and calibrated values of the last records. */
export function TrialResult({ trial, unit }: { trial: Trial; unit: string }) {
  const format = formats();
  const text = words();
  const { result, error, isRunning } = trial;
  const isOfField = error instanceof ApiError && (error.problem.errors ?? []).length > 0;
  const records = (result?.records ?? []).slice(-SHOWN).reverse();
  return (
    <section class="trial" aria-label={text.trial} aria-busy={isRunning}>
      <h3>{text.trial}</h3>
      {error !== null && !isOfField && <p class="error">{describeError(error)}</p>}
      {result !== null && result.records.length === 0 && <p class="quiet">{text.noRecords}</p>}
      {records.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">{text.time}</th>
              <th scope="col">{text.raw}</th>
              <th scope="col">{text.value}</th>
            </tr>
          </thead>
          <tbody>
            {records.map(({ time, raw, value }, nth) => (
              <tr key={`${time} ${nth}`}>
                <td>{format.dateTimeWithSeconds(time)}</td>
                <td>{format.number(raw, 3)}</td>
                <td>
                  <bdi>{value === null ? '–' : `${format.number(value, 2)} ${unit}`.trim()}</bdi>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {records.length > 0 && records.every(({ raw }) => raw === null) && <p class="note">{text.noValues}</p>}
    </section>
  );
}
