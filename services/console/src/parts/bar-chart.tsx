import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';

interface Bar {
  label: string;
  value: number;
  /** The value as text. */
  text: string;
  href?: string;
}

interface Props {
  label: string;
  bars: readonly Bar[];
}

const FIRST_WIDTH_PX = 600;
const HEIGHT_PX = 168;
const HEAD_PX = 18;
const FOOT_PX = 20;
const WIDEST_BAR_PX = 72;
/** Average width of a letter of a label. */
const LETTER_PX = 6.5;

/** Bar chart, such as kilometres by day. The table beside it has the same figures. */
export function BarChart({ label, bars }: Props) {
  const figure = useRef<HTMLElement>(null);
  const width = useSignal(FIRST_WIDTH_PX);
  useLayoutEffect(() => {
    const element = figure.current;
    if (element === null) return;
    const resize = new ResizeObserver(() => {
      width.value = Math.max(1, element.clientWidth);
    });
    resize.observe(element);
    return () => resize.disconnect();
  }, [width]);
  const most = Math.max(1e-9, ...bars.map(({ value }) => value));
  const step = Math.min(WIDEST_BAR_PX, width.value / Math.max(1, bars.length));
  const longest = Math.max(1, ...bars.map(({ label: name }) => name.length)) + 2;
  const every = Math.ceil((longest * LETTER_PX) / step);
  const highest = bars.findIndex(({ value }) => value === most);
  /** Horizontal position of a bar's text, kept within the chart. */
  const placeOf = (index: number, text: string) => {
    const half = (text.length * LETTER_PX) / 2;
    return Math.max(half, Math.min(width.value - half, (index + 0.5) * step));
  };
  return (
    <figure class="bar-chart" ref={figure}>
      <figcaption>{label}</figcaption>
      <svg viewBox={`0 0 ${width.value} ${HEIGHT_PX}`} role="img" aria-label={label}>
        {bars.map(({ label: name, value, text, href }, index) => {
          const height = ((HEIGHT_PX - HEAD_PX - FOOT_PX) * value) / most;
          const bar = (
            <rect
              x={index * step + step * 0.1}
              y={HEIGHT_PX - FOOT_PX - height}
              width={step * 0.8}
              height={Math.max(height, value > 0 ? 1 : 0)}
              rx={2}
            >
              <title>{`${name}: ${text}`}</title>
            </rect>
          );
          return (
            <g key={`${index} ${name}`}>
              {href === undefined ? bar : <a href={href}>{bar}</a>}
              {index === highest && (
                <text x={placeOf(index, text)} y={HEAD_PX - 6} text-anchor="middle">
                  {text}
                </text>
              )}
              {index % every === 0 && (
                <text x={placeOf(index, name)} y={HEIGHT_PX - 5} text-anchor="middle">
                  {name}
                </text>
              )}
            </g>
          );
        })}
      </svg>
    </figure>
  );
}
