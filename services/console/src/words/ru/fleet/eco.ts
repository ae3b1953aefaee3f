import type { EcoWords } from '../../en/fleet/eco.ts';

export const eco: EcoWords = {
  score: 'Оценка',
  hint: 'От 0 до 100: чем выше, тем лучше.',
  lastDays: (days: number) => `Последние ${days} дней`,
  noTrips: 'За это время поездок нет',
  points: 'Баллы',
  noPoints: 'Баллов нет: нарушений не было.',
  kinds: {
    speedingPoints: 'Превышение скорости',
    accelerationPoints: 'Резкие ускорения',
    brakingPoints: 'Резкие торможения',
    corneringPoints: 'Резкие повороты',
    idlingPoints: 'Холостой ход',
    overRevvingPoints: 'Превышение оборотов',
  },
};
