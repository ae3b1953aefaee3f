import type { RefuellingsRow } from '@outrider/client';
import { formats } from '../../format.ts';
import { Icon } from '../../parts/icon.tsx';
import { setQuery } from '../../router.ts';
import type { ReplayClock } from '../../track/clock.ts';
import { t } from '../../words/words.ts';
import { words } from '../sensors/words.ts';
import type { Part } from './load.ts';
import type { Measured } from './measured.ts';
import { nameOf } from './names.ts';

/** Horizontal position of the plot within the chart. */
export interface PlotArea {
  startPx: number;
  widthPx: number;
}

interface Props {
  parts: readonly Part[];
  measured: ReadonlyMap<string, Measured>;
  clock: ReplayClock;
  area: PlotArea;
}

/** “Fuel drain, 85 l”. */
export function changeText({ kind, refuelledL, drainedL }: RefuellingsRow): string {
  const format = formats();
  const { chart } = words();
  return kind === 'refuelling' ? chart.refuelling(format.volume(refuelledL)) : chart.drain(format.volume(drainedL));
}

/**
 * Refuellings and drains over the chart. Each shows its volume and place on hover or focus; a click opens its details.
 */
export function FuelMarks({ parts, measured, clock, area: { startPx, widthPx } }: Props) {
  const format = formats();
  const length = Math.max(1, clock.toMs - clock.fromMs);
  const marks = parts.flatMap((part) =>
    (measured.get(part.vehicleId)?.changes ?? []).map((change) => ({
      part,
      change,
      atMs: Date.parse(change.startedAt),
    })),
  );
  const shown = marks.filter(({ atMs }) => atMs >= clock.fromMs && atMs <= clock.toMs);
  if (shown.length === 0) return null;
  const open = ({ marks: of }: Part, { kind }: RefuellingsRow, atMs: number) => {
    clock.seek(atMs);
    const found = of.find(({ row, fromMs }) => row !== null && row.kind === kind && Math.abs(fromMs - atMs) < 1000);
    setQuery({ mark: found?.key ?? null });
  };
  return (
    <ul class="fuel-marks" aria-label={words().chart.events}>
      {shown.map(({ part, change, atMs }) => {
        const share = (atMs - clock.fromMs) / length;
        const endMs = change.endedAt === null ? clock.toMs : Date.parse(change.endedAt);
        const lengthPx = Math.max(2, ((Math.min(clock.toMs, endMs) - atMs) / length) * widthPx);
        const { startPlace, startedAt, levelBeforeL, levelAfterL } = change;
        const facts = [
          parts.length > 1 ? nameOf(part.vehicleId) : null,
          format.dateTime(startedAt),
          words().chart.levels(format.volume(levelBeforeL), format.volume(levelAfterL)),
          startPlace,
          change.endedAt === null ? t().ongoing : null,
        ];
        return (
          <li
            key={`${part.vehicleId} ${change.kind} ${startedAt}`}
            class={`change ${change.kind}`}
            style={{ left: `${startPx + share * widthPx}px` }}
          >
            <span class="band" style={{ inlineSize: `${lengthPx}px` }} />
            <button type="button" class={share > 0.6 ? 'icon late' : 'icon'} onClick={() => open(part, change, atMs)}>
              <Icon name={change.kind === 'refuelling' ? 'up' : 'down'} />
              <span class="tip">
                <strong>{changeText(change)}</strong>
                {facts.filter(Boolean).map((fact) => (
                  <span key={fact}>{fact}</span>
                ))}
              </span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}
