import type { EcoWords } from '../../en/fleet/eco.ts';

export const eco: EcoWords = {
  score: 'Puntuación',
  hint: 'De 0 a 100: cuanto más alta, mejor.',
  lastDays: (days: number) => `Últimos ${days} días`,
  noTrips: 'Sin viajes en este tiempo',
  points: 'Puntos',
  noPoints: 'Sin puntos: no hubo infracciones.',
  kinds: {
    speedingPoints: 'Exceso de velocidad',
    accelerationPoints: 'Aceleraciones bruscas',
    brakingPoints: 'Frenazos',
    corneringPoints: 'Giros bruscos',
    idlingPoints: 'Ralentí',
    overRevvingPoints: 'Exceso de rpm',
  },
};
