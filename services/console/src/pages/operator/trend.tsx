import { formats } from '../../format.ts';
import { linePath } from './line-path.ts';
import { operatorWords } from './words.ts';

interface Props {
  label: string;
  at: readonly string[];
  values: readonly (number | null)[];
  text: (value: number) => string;
}

const WIDTH = 240;
const HEIGHT = 56;

/** A current figure with a small line of its history. */
export function Trend({ label, at, values, text }: Props) {
  const known = values.filter((value) => value !== null);
  const last = values.findLast((value) => value !== null) ?? null;
  const [lowest, highest] = [Math.min(...known), Math.max(...known)];
  const words = operatorWords();
  const since = at[0];
  return (
    <figure class="trend">
      <figcaption>
        <span>{label}</span>
        <strong>{last === null ? words.unknown : text(last)}</strong>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={last === null ? `${label}: ${words.unknown}` : words.trendText(label, text(lowest), text(highest))}
      >
        <path d={linePath(values, WIDTH, HEIGHT)} />
      </svg>
      <small>
        {last !== null && since !== undefined && `${formats().time(since)} – ${formats().time(at.at(-1) ?? since)}`}
        <span>{last !== null && words.highest(text(highest))}</span>
      </small>
    </figure>
  );
}
