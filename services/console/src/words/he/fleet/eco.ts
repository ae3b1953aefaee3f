import type { EcoWords } from '../../en/fleet/eco.ts';

export const eco: EcoWords = {
  score: 'ציון',
  hint: 'מ־0 עד 100: ככל שגבוה יותר, טוב יותר.',
  lastDays: (days: number) => `${days} הימים האחרונים`,
  noTrips: 'אין נסיעות בפרק זמן זה',
  points: 'נקודות',
  noPoints: 'אין נקודות: לא היו חריגות.',
  kinds: {
    speedingPoints: 'חריגות מהירות',
    accelerationPoints: 'האצות חדות',
    brakingPoints: 'בלימות חדות',
    corneringPoints: 'פניות חדות',
    idlingPoints: 'עמידה במנוע פועל',
    overRevvingPoints: 'סל״ד גבוה',
  },
};
