import type { Sensor } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { confirmed, Dialog } from '../../parts/dialog.tsx';
import type { Edit } from '../../parts/forms/edit.ts';
import { EditForm } from '../../parts/forms/edit-form.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Loaded, useReading } from '../../parts/loading/reading.tsx';
import { Message } from '../../parts/message.tsx';
import { route, setQuery } from '../../router.ts';
import { api } from '../../session.ts';
import { joined, t } from '../../words/words.ts';
import { Copy } from './copy.tsx';
import { freeName, MOST_SENSORS, moved, newSensor, type Preset, type SensorDraft, withPresets } from './draft.ts';
import { type OpenedSensors, openSensors, type SensorsDraft } from './open.ts';
import { Presets } from './presets.tsx';
import { SensorForm } from './sensor-form.tsx';
import { words } from './words.ts';
import '../../style/sensors.css';

interface Props {
  vehicleId: string;
  onClose: () => void;
}

/** The sensors of a vehicle: their order and their settings. The address has the open sensor. */
export function SensorsDialog({ vehicleId, onClose }: Props) {
  const opened = useReading<OpenedSensors>((ending) => openSensors(vehicleId, ending), [vehicleId]);
  const close = async () => {
    const isChanged = opened.value.peek()?.edit.isChanged.peek() ?? false;
    if (isChanged && !(await confirmed(t().parts.unsaved, t().parts.leaveUnsaved, t().parts.leave))) {
      // Escape has already closed the dialog: open it again.
      document.querySelector<HTMLDialogElement>('dialog.wide:not([open])')?.showModal();
      return;
    }
    onClose();
  };
  const { name = '' } = opened.value.value?.vehicle ?? {};
  return (
    <Dialog title={joined([words().sensors, name], ': ')} isWide onClose={() => void close()}>
      <Loaded of={opened}>{(sensors) => <Sensors {...sensors} onClose={onClose} />}</Loaded>
    </Dialog>
  );
}

type Mode = 'edit' | 'presets' | 'copy';

function Sensors({ edit, vehicle, onClose }: OpenedSensors & { onClose: () => void }) {
  const text = words();
  const mode = useSignal<Mode>('edit');
  const protocol = useProtocol(vehicle.id, vehicle.terminalAccess.protocol);
  const { sensors } = edit.draft.value;
  const named = Number(route.value.query.get('sensor') ?? '1') - 1;
  const nth = Math.min(Math.max(0, Number.isInteger(named) ? named : 0), sensors.length - 1);
  const open = (at: number) => {
    mode.value = 'edit';
    setQuery({ sensor: String(at + 1) });
  };
  const setAll = (next: SensorDraft[], at: number) => {
    edit.set({ sensors: next });
    open(Math.max(0, Math.min(at, next.length - 1)));
  };
  const add = () =>
    setAll([...sensors, newSensor({ name: freeName(text.newSensor, sensors), source: '' })], sensors.length);
  const current = sensors[nth];
  const saved = edit.isChanged.value ? null : (sensors as Sensor[]);
  return (
    <div class={`sensors-of ${mode.value}`}>
      <nav aria-label={text.sensors}>
        <List edit={edit} sensors={sensors} nth={mode.value === 'edit' ? nth : -1} onOpen={open} onChange={setAll} />
        <div class="actions">
          <button type="button" disabled={sensors.length >= MOST_SENSORS} onClick={() => (mode.value = 'presets')}>
            <Icon name="plus" /> {text.fromPresets}
          </button>
          <button type="button" disabled={sensors.length >= MOST_SENSORS} onClick={add}>
            <Icon name="plus" /> {text.ownSensor}
          </button>
          <button
            type="button"
            disabled={saved === null || saved.length === 0}
            title={saved === null ? text.saveFirst : undefined}
            onClick={() => (mode.value = 'copy')}
          >
            <Icon name="copy" /> {text.copyTo}
          </button>
        </div>
      </nav>
      {mode.value === 'presets' ? (
        <Presets
          sensors={sensors}
          protocol={protocol}
          onAdd={(presets: readonly Preset[]) => setAll(withPresets(sensors, presets), sensors.length)}
          onCancel={() => (mode.value = 'edit')}
        />
      ) : mode.value === 'copy' && saved !== null ? (
        <Copy vehicleId={vehicle.id} sensors={saved} onClose={() => (mode.value = 'edit')} />
      ) : (
        <EditForm
          edit={edit}
          labels={{ sensors: text.sensors }}
          describe={describeSensors}
          saved={text.saved}
          onSaved={onClose}
          isWaiting={!edit.isChanged.value}
        >
          {current === undefined ? (
            <Message icon="gauge" title={text.none} hint={text.noneHint} />
          ) : (
            <SensorForm
              key={nth}
              edit={edit}
              vehicleId={vehicle.id}
              nth={nth}
              sensor={current}
              set={(fields) =>
                edit.set({ sensors: sensors.map((one, at) => (at === nth ? { ...one, ...fields } : one)) })
              }
            />
          )}
        </EditForm>
      )}
    </div>
  );
}

interface ListProps {
  edit: Edit<SensorsDraft>;
  sensors: readonly SensorDraft[];
  nth: number;
  onOpen: (nth: number) => void;
  onChange: (sensors: SensorDraft[], nth: number) => void;
}

function List({ edit, sensors, nth, onOpen, onChange }: ListProps) {
  const text = words();
  const isWrong = (at: number) => edit.otherErrors.length > 0 && hasErrors(edit.error.value, `/sensors/${at}/`);
  return (
    <ol class="sensor-list">
      {sensors.map(({ id, name, kind, unit }, at) => (
        <li key={id ?? `new ${at}`} aria-current={at === nth ? 'true' : undefined}>
          <button type="button" class="link" onClick={() => onOpen(at)}>
            <strong>{name === '' ? '–' : name}</strong>
            <small>
              {[text.kinds[kind], unit].filter(Boolean).join(', ')}
              {isWrong(at) && <span class="error"> · {text.hasErrors}</span>}
            </small>
          </button>
          <span class="order">
            <button
              type="button"
              class="icon"
              disabled={at === 0}
              aria-label={text.moveUp(name)}
              onClick={() => onChange(moved(sensors, at, at - 1), at - 1)}
            >
              <Icon name="up" />
            </button>
            <button
              type="button"
              class="icon"
              disabled={at === sensors.length - 1}
              aria-label={text.moveDown(name)}
              onClick={() => onChange(moved(sensors, at, at + 1), at + 1)}
            >
              <Icon name="down" />
            </button>
            <button
              type="button"
              class="icon"
              aria-label={text.remove(name)}
              onClick={() =>
                onChange(
                  sensors.filter((_, other) => other !== at),
                  at,
                )
              }
            >
              <Icon name="trash" />
            </button>
          </span>
        </li>
      ))}
    </ol>
  );
}

function hasErrors(error: unknown, prefix: string): boolean {
  const { problem } = (error ?? {}) as { problem?: { errors?: { pointer?: string }[] } };
  return problem?.errors?.some(({ pointer }) => pointer?.startsWith(prefix)) ?? false;
}

/** Protocol of the terminal: the one it is bound to, otherwise the one it last used. */
function useProtocol(vehicleId: string, bound: string): string | null {
  const known = bound === 'learn' || bound === 'any' ? null : bound;
  const spoken = useSignal<string | null>(known);
  useEffect(() => {
    if (known !== null) return;
    const ending = new AbortController();
    api.get('/api/v1/vehicles/{id}/state', { path: { id: vehicleId }, signal: ending.signal }).then(
      ({ protocol }) => (spoken.value = protocol),
      () => undefined,
    );
    return () => ending.abort();
  }, [vehicleId, known, spoken]);
  return spoken.value;
}

/** Readable text of the sensors, for the comparison of both versions. */
function describeSensors(_: string, value: unknown): string {
  return (value as SensorDraft[])
    .map(({ name, source, unit, calibration, thresholds }) =>
      [
        joined([name, source], ': '),
        unit,
        calibration.length > 0 ? words().points(calibration.length) : '',
        ...thresholds.map(({ condition, min, max }) =>
          [words().conditions[condition], min, max].filter((part) => part !== null).join(' '),
        ),
      ]
        .filter(Boolean)
        .join(', '),
    )
    .join('\n');
}
