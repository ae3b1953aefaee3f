/** Words of scores of eco-driving. */
export const eco = {
  score: 'Score',
  hint: '0 to 100: the higher the better.',
  lastDays: (days: number) => `Last ${days} days`,
  noTrips: 'No trips in this period',
  points: 'Points',
  noPoints: 'No points: no violations.',
  kinds: {
    speedingPoints: 'Speeding',
    accelerationPoints: 'Harsh acceleration',
    brakingPoints: 'Harsh braking',
    corneringPoints: 'Harsh cornering',
    idlingPoints: 'Idling',
    overRevvingPoints: 'Over-revving',
  },
};

export type EcoWords = typeof eco;
