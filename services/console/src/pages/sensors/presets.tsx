import type { SensorPresets } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { CancelButton } from '../../parts/buttons.tsx';
import { Loaded, useReading } from '../../parts/loading/reading.tsx';
import { api } from '../../session.ts';
import { t } from '../../words/words.ts';
import { foundPresets, MOST_SENSORS, type Preset, type SensorDraft } from './draft.ts';
import { words } from './words.ts';

interface Props {
  /** The vehicle's current sensors. */
  sensors: readonly SensorDraft[];
  /** Protocol of the vehicle's terminal; null if unknown. */
  protocol: string | null;
  onAdd: (presets: readonly Preset[]) => void;
  onCancel: () => void;
}

/** Common sensors of terminals, by family. Those of the vehicle's own terminal come first. */
export function Presets({ sensors, protocol, onAdd, onCancel }: Props) {
  const presets = useReading<SensorPresets>((signal) => api.get('/api/v1/sensor-presets', { signal }), []);
  const search = useSignal('');
  const chosen = useSignal<ReadonlyMap<string, Preset>>(new Map());
  const text = words();
  const toggle = (key: string, preset: Preset) => {
    const next = new Map(chosen.peek());
    if (!next.delete(key)) next.set(key, preset);
    chosen.value = next;
  };
  const found = foundPresets(presets.value.value?.items ?? [], search.value, protocol);
  const sources = new Set(sensors.map(({ source }) => source));
  const count = chosen.value.size;
  return (
    <section class="presets" aria-label={text.fromPresets}>
      <h3>{text.fromPresets}</h3>
      <input
        type="search"
        aria-label={text.searchPresets}
        placeholder={text.searchPresets}
        value={search.value}
        onInput={(event) => (search.value = event.currentTarget.value)}
      />
      <Loaded of={presets}>{() => found.length === 0 && <p class="quiet">{t().parts.noneFound}</p>}</Loaded>
      <div class="families">
        {found.map(({ family, title, sensors: ofFamily }) => (
          <details key={`${family} ${search.value === ''}`} open={search.value !== '' || family === protocol}>
            <summary>
              {title} {family === protocol && <small class="chip">{text.ownTerminal}</small>}
            </summary>
            <ul>
              {ofFamily.map((preset) => {
                const key = `${family} ${preset.name}`;
                return (
                  <li key={key}>
                    <label class="check">
                      <input type="checkbox" checked={chosen.value.has(key)} onChange={() => toggle(key, preset)} />
                      <span>
                        <bdi>{preset.name}</bdi>
                      </span>
                      <small>
                        <bdi>{preset.source}</bdi> {preset.unit !== '' && `· ${preset.unit}`}
                        {sources.has(preset.source) && ` · ${text.hasAlready}`}
                      </small>
                    </label>
                  </li>
                );
              })}
            </ul>
          </details>
        ))}
      </div>
      <div class="actions">
        <button
          type="button"
          class="primary"
          disabled={count === 0 || sensors.length + count > MOST_SENSORS}
          onClick={() => onAdd([...chosen.peek().values()])}
        >
          {text.addChosen(count)}
        </button>
        <CancelButton onClick={onCancel} />
      </div>
      {sensors.length + count > MOST_SENSORS && <p class="error">{text.mostSensors(MOST_SENSORS)}</p>}
    </section>
  );
}
