import type { MaintenanceDue, MaintenancePlan } from '@outrider/client';
import { formats } from '../../format.ts';
import { maintenanceWords } from '../../maintenance/words.ts';

/** Remaining distance, hours and days of a plan as text; exceeded ones are marked. */
export function leftText({ left, counterUnit }: Pick<MaintenanceDue, 'left' | 'counterUnit'>): string {
  const words = maintenanceWords();
  return partsOf(left, counterUnit ?? '')
    .map(({ value, text }) => (value < 0 ? words.over(text) : text))
    .join(' · ');
}

/** A span as text: distance, hours, days and custom counter, as far as they are set. */
export function spanText(span: MaintenancePlan['every'], counterName: string | null): string {
  return (
    partsOf(span, counterName === null ? '' : `(${counterName})`)
      .map(({ text }) => text)
      .join(' · ') || '–'
  );
}

function partsOf(
  { distanceKm, engineHours, days, counter }: MaintenancePlan['every'],
  unit: string,
): { value: number; text: string }[] {
  const words = maintenanceWords();
  const parts: { value: number; text: string }[] = [];
  if (distanceKm !== null)
    parts.push({ value: distanceKm, text: formats().distance(Math.round(Math.abs(distanceKm) * 1000)) });
  if (engineHours !== null)
    parts.push({ value: engineHours, text: words.hours(formats().number(Math.abs(engineHours), 1)) });
  if (days !== null) parts.push({ value: days, text: words.days(Math.floor(Math.abs(days))) });
  if (counter !== null)
    parts.push({ value: counter, text: `${formats().number(Math.abs(counter), 1)} ${unit}`.trimEnd() });
  return parts;
}
