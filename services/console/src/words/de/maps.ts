import type { Words } from '../en.ts';

export const maps: Words['maps'] = {
  map: 'Karte',
  world: 'Welt (offline)',
  online: 'Online-Karte',
  measure: 'Strecke messen',
  measureHint: 'Punkte auf der Karte anklicken',
  failed: 'Die gewählte Karte lässt sich nicht zeigen; dies ist die Weltkarte.',
};
