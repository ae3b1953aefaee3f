import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { formats } from '../../format.ts';
import type { Edit } from '../../parts/forms/edit.ts';
import { Choice } from '../../parts/forms/field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { toast } from '../../parts/toast.tsx';
import { curveOf, isMonotonic, MOST_POINTS, type Point, readPoints, writePoints } from './calibration.ts';
import type { SensorDraft } from './draft.ts';
import type { SensorsDraft } from './open.ts';
import { words } from './words.ts';

interface Props {
  edit: Edit<SensorsDraft>;
  pointer: string;
  sensor: SensorDraft;
  set: (fields: Partial<SensorDraft>) => void;
  /** Values from the newest record, shown on the curve. */
  now: { raw: number; value: number | null } | null;
}

/** Calibration table of raw and calibrated values, typed or pasted, beside its curve. */
export function Calibration({ edit, pointer, sensor, set, now }: Props) {
  const { calibration: points, outside, unit } = sensor;
  const pasting = useSignal(false);
  const text = words();
  const take = (pasted: string) => {
    const { points: read, wrongLines } = readPoints(pasted);
    if (wrongLines.length > 0) return toast(text.wrongLines(wrongLines.slice(0, 5).join(', ')), 'error');
    if (read.length === 0) return toast(text.nothingToPaste, 'error');
    if (read.length > MOST_POINTS) return toast(text.mostPoints(MOST_POINTS), 'error');
    pasting.value = false;
    set({ calibration: read });
  };
  const onPaste = (event: ClipboardEvent) => {
    const pasted = event.clipboardData?.getData('text') ?? '';
    if (event.target instanceof HTMLTextAreaElement || !/[\t\n]/.test(pasted.trim())) return;
    event.preventDefault();
    take(pasted);
  };
  const errors = [...edit.at(`${pointer}/calibration`)];
  return (
    <fieldset class="calibration" onPaste={onPaste}>
      <legend>{text.calibration}</legend>
      <p class="quiet">{text.calibrationHint}</p>
      {points.length > 1 && <Curve points={points} unit={unit} now={now} />}
      {points.length > 0 && <Points edit={edit} pointer={pointer} points={points} unit={unit} set={set} />}
      {points.length > 2 && !isMonotonic(points) && <p class="note">{text.notMonotonic}</p>}
      {errors.length > 0 && <p class="error">{errors.join('; ')}</p>}
      <div class="actions">
        <button
          type="button"
          disabled={points.length >= MOST_POINTS}
          onClick={() => set({ calibration: [...points, nextPoint(points)] })}
        >
          <Icon name="plus" /> {text.addPoint}
        </button>
        <button type="button" aria-expanded={pasting.value} onClick={() => (pasting.value = !pasting.value)}>
          {text.pasteTable}
        </button>
        {points.length > 0 && (
          <button
            type="button"
            onClick={() => navigator.clipboard.writeText(writePoints(points)).then(() => toast(text.tableCopied))}
          >
            <Icon name="copy" /> {text.copyTable}
          </button>
        )}
        {points.length > 0 && (
          <button type="button" onClick={() => set({ calibration: [] })}>
            <Icon name="trash" /> {text.clearTable}
          </button>
        )}
      </div>
      {pasting.value && <PasteBox onTake={take} />}
      {points.length > 0 && (
        <Choice
          label={text.outside}
          value={outside}
          onChange={(value) => set({ outside: value as SensorDraft['outside'] })}
        >
          {(['extrapolate', 'clamp'] as const).map((one) => (
            <option key={one} value={one} selected={one === outside}>
              {text.outsides[one]}
            </option>
          ))}
        </Choice>
      )}
    </fieldset>
  );
}

/** Next point of the table, extrapolated from the last two. */
function nextPoint(points: readonly Point[]): Point {
  const [last, before] = [points.at(-1), points.at(-2)];
  if (last === undefined) return { raw: 0, value: 0 };
  if (before === undefined) return { raw: last.raw + 1, value: last.value + 1 };
  return { raw: 2 * last.raw - before.raw, value: 2 * last.value - before.value };
}

function PasteBox({ onTake }: { onTake: (text: string) => void }) {
  const id = useId();
  const typed = useSignal('');
  const text = words();
  return (
    <div class="field">
      <label for={id}>{text.pasteLabel}</label>
      <textarea
        id={id}
        rows={6}
        value={typed.value}
        placeholder={'0\t0\n1024\t95\n4095\t400'}
        onInput={(event) => (typed.value = event.currentTarget.value)}
      />
      <button type="button" disabled={typed.value.trim() === ''} onClick={() => onTake(typed.value)}>
        {text.takeTable}
      </button>
    </div>
  );
}

type PointsProps = Pick<Props, 'edit' | 'pointer' | 'set'> & { points: readonly Point[]; unit: string };

function Points({ edit, pointer, points, unit, set }: PointsProps) {
  const text = words();
  const change = (at: number, fields: Partial<Point>) =>
    set({ calibration: points.map((point, nth) => (nth === at ? { ...point, ...fields } : point)) });
  return (
    <div class="points">
      <table>
        <thead>
          <tr>
            <th scope="col">{text.raw}</th>
            <th scope="col">{unit === '' ? text.value : `${text.value}, ${unit}`}</th>
            <td />
          </tr>
        </thead>
        <tbody>
          {points.map((point, nth) => {
            const errors = (['raw', 'value'] as const).flatMap((name) =>
              edit.at(`${pointer}/calibration/${nth}/${name}`),
            );
            return (
              <tr key={nth}>
                {(['raw', 'value'] as const).map((name) => (
                  <td key={name}>
                    <input
                      type="number"
                      step="any"
                      required
                      aria-label={`${name === 'raw' ? text.raw : text.value} ${nth + 1}`}
                      aria-invalid={errors.length > 0}
                      value={Number.isNaN(point[name]) ? '' : point[name]}
                      onInput={({ currentTarget: { valueAsNumber } }) => change(nth, { [name]: valueAsNumber })}
                    />
                  </td>
                ))}
                <td>
                  <button
                    type="button"
                    class="icon"
                    aria-label={text.removePoint(nth + 1)}
                    onClick={() => set({ calibration: points.filter((_, at) => at !== nth) })}
                  >
                    <Icon name="trash" />
                  </button>
                  {errors.length > 0 && <small class="error">{errors.join('; ')}</small>}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

const BOX = { width: 320, height: 120, margin: 8 };

function Curve({ points, unit, now }: { points: readonly Point[]; unit: string; now: Props['now'] }) {
  const format = formats();
  const text = words();
  const known = points.filter(({ raw, value }) => Number.isFinite(raw) && Number.isFinite(value));
  if (known.length < 2) return null;
  const { x, y } = curveOf(known, BOX);
  const first = known[0] as Point;
  const last = known.at(-1) as Point;
  const amount = (value: number) => `${format.number(value, 2)} ${unit}`.trim();
  return (
    <figure class="curve">
      <svg
        viewBox={`0 0 ${BOX.width} ${BOX.height}`}
        role="img"
        aria-label={text.curveOf(
          `${format.number(first.raw, 2)} → ${amount(first.value)}`,
          `${format.number(last.raw, 2)} → ${amount(last.value)}`,
        )}
      >
        <polyline points={known.map(({ raw, value }) => `${x(raw)},${y(value)}`).join(' ')} />
        {known.map(({ raw, value }, nth) => (
          <circle key={nth} cx={x(raw)} cy={y(value)} r={3}>
            <title>{`${format.number(raw, 2)} → ${amount(value)}`}</title>
          </circle>
        ))}
        {now?.value != null && <circle class="now" cx={x(now.raw)} cy={y(now.value)} r={5} />}
      </svg>
      <figcaption>
        <span>{format.number(first.raw, 2)}</span>
        {now !== null && (
          <span class="now">
            {text.nowRaw(format.number(now.raw, 2), now.value === null ? '–' : amount(now.value))}
          </span>
        )}
        <span>{format.number(last.raw, 2)}</span>
      </figcaption>
    </figure>
  );
}
