import { preferences } from '../../preferences.ts';
import { localText, PRESETS, type Preset, presetRange, type TimeRange, timeOfLocalText } from '../../time-range.ts';
import { t } from '../../words/words.ts';
import { Choice, Field } from './field.tsx';

interface Props {
  range: TimeRange;
  onChange: (range: TimeRange) => void;
  presets?: readonly Preset[];
}

/** Chooses a time range: a preset, or two times in the viewer's zone. */
export function TimeRangeField({ range, onChange, presets = PRESETS }: Props) {
  const { timeZone } = preferences.value;
  const { preset, fromMs, toMs } = range;
  const set = (part: { fromMs?: number | null; toMs?: number | null }) => {
    const next = { preset: null, fromMs: part.fromMs ?? fromMs, toMs: part.toMs ?? toMs };
    if (next.fromMs < next.toMs) onChange(next);
  };
  return (
    <div class="time-range">
      <Choice
        label={t().parts.interval}
        value={preset ?? ''}
        onChange={(value) =>
          onChange(value === '' ? { preset: null, fromMs, toMs } : presetRange(value as Preset, timeZone, Date.now()))
        }
      >
        {presets.map((one) => (
          <option key={one} value={one} selected={one === preset}>
            {t().parts.presets[one]}
          </option>
        ))}
        <option value="" selected={preset === null}>
          {t().parts.ownInterval}
        </option>
      </Choice>
      {preset === null && (
        <>
          <Field
            label={t().parts.from}
            type="datetime-local"
            value={localText(fromMs, timeZone)}
            onChange={(event) => set({ fromMs: timeOfLocalText(event.currentTarget.value, timeZone) })}
          />
          <Field
            label={t().parts.to}
            type="datetime-local"
            value={localText(toMs, timeZone)}
            onChange={(event) => set({ toMs: timeOfLocalText(event.currentTarget.value, timeZone) })}
          />
        </>
      )}
    </div>
  );
}
