import type { Edit } from '../../parts/forms/edit.ts';
import { Choice, Field } from '../../parts/forms/field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { CONDITIONS, MOST_THRESHOLDS, type SensorDraft, type Threshold, withCondition } from './draft.ts';
import type { SensorsDraft } from './open.ts';
import { words } from './words.ts';

interface Props {
  edit: Edit<SensorsDraft>;
  pointer: string;
  sensor: SensorDraft;
  set: (fields: Partial<SensorDraft>) => void;
}

/** Thresholds for sensor events: at which value, for how long, and when the event ends. */
export function Thresholds({ edit, pointer, sensor: { thresholds, unit }, set }: Props) {
  const text = words();
  const change = (at: number, next: Threshold) =>
    set({ thresholds: thresholds.map((threshold, nth) => (nth === at ? next : threshold)) });
  const fresh: Threshold = { id: null, condition: 'above', min: null, max: 0, hysteresis: 0, forSeconds: 0 };
  return (
    <fieldset class="thresholds">
      <legend>{text.thresholds}</legend>
      <p class="quiet">{text.thresholdsHint}</p>
      {thresholds.map((threshold, nth) => {
        const { condition } = threshold;
        const at = `${pointer}/thresholds/${nth}`;
        const number = (name: 'min' | 'max' | 'hysteresis' | 'forSeconds', label: string, isNullable: boolean) => (
          <Field
            label={label}
            type="number"
            step="any"
            required
            {...(isNullable ? {} : { min: 0 })}
            value={threshold[name] ?? ''}
            errors={edit.at(`${at}/${name}`)}
            onInput={({ currentTarget: { valueAsNumber } }) =>
              change(nth, {
                ...threshold,
                [name]: Number.isNaN(valueAsNumber) ? (isNullable ? null : 0) : valueAsNumber,
              })
            }
          />
        );
        const withUnit = (label: string) => (unit === '' ? label : `${label}, ${unit}`);
        return (
          <div key={nth} class="threshold">
            <Choice
              label={text.condition}
              value={condition}
              onChange={(value) => change(nth, withCondition(threshold, value as Threshold['condition']))}
            >
              {CONDITIONS.map((one) => (
                <option key={one} value={one} selected={one === condition}>
                  {text.conditions[one]}
                </option>
              ))}
            </Choice>
            {condition !== 'above' && number('min', withUnit(condition === 'below' ? text.bound : text.from), true)}
            {condition !== 'below' && number('max', withUnit(condition === 'above' ? text.bound : text.to), true)}
            {number('hysteresis', withUnit(text.hysteresis), false)}
            {number('forSeconds', text.forSeconds, false)}
            <button
              type="button"
              class="icon"
              aria-label={text.removeThreshold(nth + 1)}
              onClick={() => set({ thresholds: thresholds.filter((_, other) => other !== nth) })}
            >
              <Icon name="trash" />
            </button>
          </div>
        );
      })}
      <div class="actions">
        <button
          type="button"
          disabled={thresholds.length >= MOST_THRESHOLDS}
          onClick={() => set({ thresholds: [...thresholds, fresh] })}
        >
          <Icon name="plus" /> {text.addThreshold}
        </button>
      </div>
    </fieldset>
  );
}
