import type { Vehicle, VehiclesPatch } from '@outrider/client';

/** A change that applies to many vehicles. */
export type SharedPatch = VehiclesPatch['patch'];

/** Maximum number of vehicles in one call. */
export const MOST_AT_ONCE = 5000;
/** With more distinct previous values than this, undo is not offered: each needs its own call. */
export const MOST_UNDO_STEPS = 50;

export interface UndoStep {
  ids: string[];
  patch: SharedPatch;
}

/** The calls that restore the previous values of a change; null if they are too many. */
export function undoSteps(before: readonly Vehicle[], patch: SharedPatch): UndoStep[] | null {
  const names = Object.keys(patch) as (keyof SharedPatch & keyof Vehicle)[];
  const steps = new Map<string, UndoStep>();
  for (const vehicle of before) {
    const former = Object.fromEntries(names.map((name) => [name, vehicle[name]])) as SharedPatch;
    const key = JSON.stringify(former);
    const step = steps.get(key) ?? { ids: [], patch: former };
    if (steps.size >= MOST_UNDO_STEPS && step.ids.length === 0) return null;
    step.ids.push(vehicle.id);
    steps.set(key, step);
  }
  return [...steps.values()];
}

/** Splits a list that is too long for one call. */
export function chunks<T>(items: readonly T[], size = MOST_AT_ONCE): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, nth) => items.slice(nth * size, (nth + 1) * size));
}

/** Errors of a refused change by vehicle id. Pointers name the index of the id in the call. */
export function refusals(
  errors: readonly { pointer?: string; detail: string }[],
  ids: readonly string[],
): Map<string, string> {
  const found = new Map<string, string>();
  for (const { pointer, detail } of errors) {
    const [, nth] = /^\/(?:ids|add|remove)\/(\d+)$/.exec(pointer ?? '') ?? [];
    const id = nth === undefined ? undefined : ids[Number(nth)];
    if (id !== undefined) found.set(id, detail);
  }
  return found;
}
