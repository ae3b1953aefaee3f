import { describeError } from '../../errors.ts';
import { Field } from '../../parts/forms/field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Failure } from '../../parts/message.tsx';
import { Panel } from '../../parts/panel.tsx';
import { t } from '../../words/words.ts';
import { ignoredIn } from './import.ts';
import { type ImportProps, useImport } from './use-import.ts';
import { geofenceWords } from './words.ts';

/** Import of geofences from a file: its contents, its errors, and the choice of what to import. */
export function ImportPanel(props: ImportProps) {
  const found = useImport(props);
  const { file, sizes, rows, wanted, problemsOf, error, isReady, run } = found;
  const hasRowProblems = rows.value.some((_, index) => problemsOf(index).length > 0);
  return (
    <Panel kind="panel" label={geofenceWords().import} onClose={props.onClose} head={<h2>{geofenceWords().import}</h2>}>
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
        <Rows {...found} />
        {rows.value.length > 0 && (
          <div class="actions">
            <button type="button" class="primary" disabled={!isReady} onClick={run}>
              <Icon name="upload" /> {geofenceWords().importCount(wanted.length)}
            </button>
          </div>
        )}
      </div>
    </Panel>
  );
}

function Rows({ rows, change, problemsOf }: Pick<ReturnType<typeof useImport>, 'rows' | 'change' | 'problemsOf'>) {
  return (
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
