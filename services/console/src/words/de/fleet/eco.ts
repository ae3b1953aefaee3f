import type { EcoWords } from '../../en/fleet/eco.ts';

export const eco: EcoWords = {
  score: 'Bewertung',
  hint: '0 bis 100: je höher, desto besser.',
  lastDays: (days: number) => `Letzte ${days} Tage`,
  noTrips: 'Keine Fahrten in dieser Zeit',
  points: 'Punkte',
  noPoints: 'Keine Punkte: kein Verstoß.',
  kinds: {
    speedingPoints: 'Zu schnell',
    accelerationPoints: 'Starke Beschleunigung',
    brakingPoints: 'Starkes Bremsen',
    corneringPoints: 'Scharfe Kurven',
    idlingPoints: 'Leerlauf',
    overRevvingPoints: 'Überdrehen',
  },
};
