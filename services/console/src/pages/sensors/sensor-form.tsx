import { useId, useRef } from 'preact/hooks';
import type { Edit } from '../../parts/forms/edit.ts';
import { Choice, Field } from '../../parts/forms/field.tsx';
import { t } from '../../words/words.ts';
import { Calibration } from './calibration.tsx';
import { errorPlace, KINDS, type Kind, type SensorDraft, unitOf } from './draft.ts';
import type { SensorsDraft } from './open.ts';
import { Thresholds } from './thresholds.tsx';
import { newestOf, type Trial, TrialResult, trialErrors, useTrial } from './trial.tsx';
import { words } from './words.ts';

const MOST_SMOOTHING = 15;
const MOST_SOURCE = 500;

interface Props {
  edit: Edit<SensorsDraft>;
  vehicleId: string;
  nth: number;
  sensor: SensorDraft;
  set: (fields: Partial<SensorDraft>) => void;
}

/** All settings of one sensor, tried on the vehicle's last records while the user types. */
export function SensorForm({ edit, vehicleId, nth, sensor, set }: Props) {
  const text = words();
  const trial = useTrial(vehicleId, sensor);
  const pointer = `/sensors/${nth}`;
  const at = (field: string) => [...new Set([...edit.at(`${pointer}/${field}`), ...trialErrors(trial, field)])];
  const setKind = (kind: Kind) => set({ kind, ...(sensor.unit === unitOf(sensor.kind) ? { unit: unitOf(kind) } : {}) });
  const number = (name: 'validMin' | 'validMax', label: string) => (
    <Field
      label={label}
      type="number"
      step="any"
      value={sensor[name] ?? ''}
      errors={at(name)}
      onInput={({ currentTarget: { valueAsNumber } }) =>
        set({ [name]: Number.isNaN(valueAsNumber) ? null : valueAsNumber })
      }
    />
  );
  return (
    <div class="sensor-form">
      <div class="pair">
        <Field
          label={text.name}
          required
          maxLength={64}
          value={sensor.name}
          errors={at('name')}
          onInput={(event) => set({ name: event.currentTarget.value })}
        />
        <Choice label={text.kind} value={sensor.kind} onChange={(value) => setKind(value as Kind)}>
          {KINDS.map((kind) => (
            <option key={kind} value={kind} selected={kind === sensor.kind}>
              {text.kinds[kind]}
            </option>
          ))}
        </Choice>
        <Field
          label={text.unit}
          maxLength={16}
          value={sensor.unit}
          errors={at('unit')}
          onInput={(event) => set({ unit: event.currentTarget.value })}
        />
      </div>
      <Source sensor={sensor} set={set} errors={at('source')} trial={trial} />
      <TrialResult trial={trial} unit={sensor.unit} />
      <Calibration edit={edit} pointer={pointer} sensor={sensor} set={set} now={newestOf(trial)} />
      <fieldset>
        <legend>{text.validity}</legend>
        <div class="pair">
          {number('validMin', text.validMin)}
          {number('validMax', text.validMax)}
          <Field
            label={text.smoothing}
            hint={text.smoothingHint}
            type="number"
            min={1}
            max={MOST_SMOOTHING}
            step={1}
            required
            value={sensor.smoothing}
            errors={at('smoothing')}
            onInput={({ currentTarget: { valueAsNumber } }) =>
              set({ smoothing: Number.isNaN(valueAsNumber) ? 1 : valueAsNumber })
            }
          />
        </div>
        <label class="check">
          <input
            type="checkbox"
            checked={sensor.onlyWithIgnition}
            onChange={(event) => set({ onlyWithIgnition: event.currentTarget.checked })}
          />
          <span>{text.onlyWithIgnition}</span>
        </label>
      </fieldset>
      <Thresholds edit={edit} pointer={pointer} sensor={sensor} set={set} />
    </div>
  );
}

/** Fields that every record has. Further attributes come from the trial. */
const FIELDS = ['speedKmh', 'ignition', 'supplyV', 'fuelL', 'odometerM', 'altitudeM', 'satellites'] as const;

interface SourceProps {
  sensor: SensorDraft;
  set: Props['set'];
  errors: readonly string[];
  trial: Trial;
}

function Source({ sensor: { source }, set, errors, trial }: SourceProps) {
  const id = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  const text = words();
  const places = errors.map(errorPlace).filter((place) => place !== null);
  const [place] = places;
  const insert = (name: string) => {
    const element = field.current;
    const from = element?.selectionStart ?? source.length;
    const to = element?.selectionEnd ?? source.length;
    const written = /^[A-Za-z_]\w*$/.test(name) ? name : `attributes[${JSON.stringify(name)}]`;
    set({ source: source.slice(0, from) + written + source.slice(to) });
    element?.focus();
  };
  const names = [...(trial.result?.attributes ?? []), ...FIELDS];
  return (
    <div class="field source">
      <label for={id}>{text.source}</label>
      <textarea
        id={id}
        ref={field}
        rows={2}
        required
        spellcheck={false}
        autocomplete="off"
        dir="ltr"
        maxLength={MOST_SOURCE}
        value={source}
        aria-invalid={errors.length > 0}
        aria-describedby={`${id}-hint${errors.length > 0 ? ` ${id}-errors` : ''}`}
        onInput={(event) => set({ source: event.currentTarget.value.replace(/\n/g, ' ') })}
      />
      {errors.length > 0 && (
        <div id={`${id}-errors`} class="error">
          {place !== undefined && (
            <code dir="ltr">
              {source.slice(0, place)}
              <mark>{source.slice(place, place + 1) || '␣'}</mark>
              {source.slice(place + 1)}
            </code>
          )}
          <p>{errors.join('; ')}</p>
        </div>
      )}
      <small id={`${id}-hint`}>{text.sourceHint}</small>
      <details>
        <summary>{text.attributes(names.length)}</summary>
        <div class="names">
          {names.map((name) => (
            <button key={name} type="button" dir="ltr" aria-label={text.insert(name)} onClick={() => insert(name)}>
              <bdi>{name}</bdi>
            </button>
          ))}
        </div>
        <a href="/docs" target="_blank" rel="noreferrer">
          {t().documentation}
        </a>
      </details>
    </div>
  );
}
