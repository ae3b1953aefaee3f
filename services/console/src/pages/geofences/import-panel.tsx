import { ApiError, type Geozone } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { describeError } from '../../errors.ts';
import { loadGeofences } from '../../fleet/store.ts';
import { Field } from '../../parts/field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Failure } from '../../parts/message.tsx';
import { Panel } from '../../parts/panel.tsx';
import { toast } from '../../parts/toast.tsx';
import { api } from '../../session.ts';
import { t } from '../../words/words.ts';
import { featureOf, type ImportItem, ignoredIn, questionOf } from './import.ts';
import { geofenceWords } from './words.ts';

interface Props {
  onClose: () => void;
  /** Shows what would be drawn. */
  onPreview: (geofences: readonly Geozone[]) => void;
}

interface Row extends ImportItem {
  isWanted: boolean;
}

/** Geofences of a file: what is in it, what is wrong with it, and the import of what is wanted. */
export function ImportPanel({ onClose, onPreview }: Props) {
  const rows = useSignal<readonly Row[]>([]);
  const error = useSignal<unknown>(null);
  const isChecked = useSignal(false);
  const isBusy = useSignal(false);
  const file = useSignal<File | null>(null);
  const sizes = useSignal({ radiusM: 100, widthM: 50 });
  const wanted = rows.value.flatMap((row, index) => (row.isWanted && row.feature !== null ? [index] : []));
  const collection = () => ({
    type: 'FeatureCollection' as const,
    features: wanted.map((index) => featureOf(rows.value[index] as Row)),
  });

  /** Reads the file: after a change of sizes again, with the names and choices as they are. */
  const read = async (chosen: File, signal: AbortSignal) => {
    try {
      const answer = await api.send('post', '/api/v1/geozones/read-file', {
        query: questionOf(chosen.name, sizes.value),
        body: new Blob([chosen], { type: 'application/octet-stream' }),
        signal,
      });
      const { items } = (await answer.json()) as { items: ImportItem[] };
      rows.value = items.map((item, index) => {
        const { isWanted = item.feature !== null, name = item.name } = rows.peek()[index] ?? {};
        return { ...item, name, isWanted };
      });
      error.value = items.length === 0 ? new SyntaxError(geofenceWords().emptyFile) : null;
    } catch (reason) {
      if (signal.aborted) return;
      rows.value = [];
      const detail = reason instanceof ApiError ? reason.problem.detail : null;
      error.value = detail ? new SyntaxError(geofenceWords().unreadable(detail)) : reason;
    }
  };
  const send = async (dryRun: 'true' | 'false') => {
    const done = await api.send('post', '/api/v1/geozones/import', {
      query: { dryRun },
      headers: { 'Idempotency-Key': dryRun === 'true' ? undefined : crypto.randomUUID() },
      body: collection(),
    });
    return done.json() as Promise<{ created: number; updated: number; unchanged: number }>;
  };
  // The dry run follows what is chosen; the preview does so at once.
  useEffect(() => {
    isChecked.value = false;
    const ownerId = '';
    onPreview(
      collection().features.map(
        ({ geometry, properties }, index) =>
          ({ type: 'Feature', id: `import-${index}`, geometry, properties: { ...properties, ownerId } }) as Geozone,
      ),
    );
    if (wanted.length === 0) return;
    const timer = setTimeout(() => {
      send('true').then(
        () => {
          error.value = null;
          isChecked.value = true;
        },
        (reason: unknown) => {
          error.value = reason;
        },
      );
    }, 400);
    return () => clearTimeout(timer);
  }, [rows.value]);
  useEffect(() => {
    const chosen = file.value;
    if (chosen === null) return;
    const ending = new AbortController();
    void read(chosen, ending.signal);
    return () => ending.abort();
  }, [file.value, sizes.value]);
  useEffect(() => () => onPreview([]), []);

  const run = async () => {
    isBusy.value = true;
    try {
      const { created, updated } = await send('false');
      await loadGeofences();
      toast(geofenceWords().imported(created + updated));
      onClose();
    } catch (reason) {
      error.value = reason;
    } finally {
      isBusy.value = false;
    }
  };
  const problemsOf = (index: number) => {
    const row = rows.value[index] as Row;
    if (row.unsupported !== null) return [geofenceWords().unsupported(row.unsupported)];
    if (!(error.value instanceof ApiError)) return [];
    const prefix = `/features/${wanted.indexOf(index)}/`;
    const own = (error.value.problem.errors ?? []).filter(({ pointer }) => `${pointer ?? ''}/`.startsWith(prefix));
    return own.map(({ detail }) => detail);
  };
  const change = (index: number, part: Partial<Row>) => {
    rows.value = rows.value.map((row, at) => (at === index ? { ...row, ...part } : row));
  };
  const hasRowProblems = rows.value.some((_, index) => problemsOf(index).length > 0);
  return (
    <Panel kind="panel" label={geofenceWords().import} onClose={onClose} head={<h2>{geofenceWords().import}</h2>}>
      <div class="body">
        <Field
          label={geofenceWords().file}
          hint={geofenceWords().fileHint}
          type="file"
          accept=".geojson,.json,.kml,.gpx,application/geo+json"
          onChange={(event) => {
            rows.value = [];
            file.value = event.currentTarget.files?.[0] ?? null;
          }}
        />
        {rows.value.some(({ feature }) => feature?.geometry.type === 'Point') && (
          <Size name="radiusM" label={geofenceWords().radiusOfPoints} sizes={sizes} />
        )}
        {rows.value.some(({ feature }) => feature?.geometry.type === 'LineString') && (
          <Size name="widthM" label={geofenceWords().widthOfLines} sizes={sizes} />
        )}
        {error.value !== null && !hasRowProblems && (
          <Failure>{error.value instanceof SyntaxError ? error.value.message : describeError(error.value)}</Failure>
        )}
        {ignoredIn(rows.value).length > 0 && (
          <p class="hint">{geofenceWords().leftOut(ignoredIn(rows.value).join(', '))}</p>
        )}
        <ol class="imports">
          {rows.value.map((row, index) => {
            const problems = problemsOf(index);
            return (
              <li key={`${index}`}>
                <input
                  type="checkbox"
                  aria-label={geofenceWords().take(row.name)}
                  checked={row.isWanted}
                  disabled={row.feature === null}
                  onChange={(event) => change(index, { isWanted: event.currentTarget.checked })}
                />
                <input
                  aria-label={t().name}
                  value={row.name}
                  maxLength={200}
                  aria-invalid={problems.length > 0}
                  onInput={(event) => change(index, { name: event.currentTarget.value })}
                />
                {problems.length > 0 && <p class="error">{problems.join('; ')}</p>}
              </li>
            );
          })}
        </ol>
        {rows.value.length > 0 && (
          <div class="actions">
            <button type="button" class="primary" disabled={!isChecked.value || isBusy.value} onClick={run}>
              <Icon name="upload" /> {geofenceWords().importCount(wanted.length)}
            </button>
          </div>
        )}
      </div>
    </Panel>
  );
}

interface SizeProps {
  name: 'radiusM' | 'widthM';
  label: string;
  sizes: { value: { radiusM: number; widthM: number } };
}

function Size({ name, label, sizes }: SizeProps) {
  return (
    <Field
      label={label}
      type="number"
      min={1}
      value={sizes.value[name]}
      onChange={(event) => {
        const { valueAsNumber } = event.currentTarget;
        if (valueAsNumber > 0) sizes.value = { ...sizes.value, [name]: valueAsNumber };
      }}
    />
  );
}
