import { mayOpen, VIEWS } from '../../screens.ts';
import { user } from '../../session.ts';

/** The address of a screen, opened for one vehicle; null if the user has no such screen. */
export function screenFor(path: string, vehicleId?: string): string | null {
  const view = VIEWS.find((one) => one.path === path);
  if (view === undefined || !user.value || !mayOpen(view, user.value)) return null;
  return vehicleId === undefined ? path : `${path}?vehicle=${vehicleId}`;
}
