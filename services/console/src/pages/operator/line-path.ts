const MARGIN = 2;

/**
 * SVG path of values at equal steps, the newest at the end, scaled from 0 to the highest. It has gaps where values are
 * unknown.
 */
export function linePath(values: readonly (number | null)[], width: number, height: number): string {
  const highest = Math.max(...values.map((value) => value ?? 0), Number.MIN_VALUE);
  const step = width / Math.max(1, values.length - 1);
  const y = (value: number) => height - MARGIN - (value / highest) * (height - 2 * MARGIN);
  let isDrawing = false;
  let path = '';
  for (const [index, value] of values.entries()) {
    if (value === null) {
      isDrawing = false;
      continue;
    }
    const x = values.length === 1 ? 0 : index * step;
    path += `${isDrawing ? 'L' : 'M'}${x.toFixed(1)} ${y(value).toFixed(1)}`;
    // A single value is drawn as a line to the edge, to be visible.
    if (!isDrawing && (values[index + 1] ?? null) === null) path += `h${values.length === 1 ? width : 1}`;
    isDrawing = true;
  }
  return path;
}
