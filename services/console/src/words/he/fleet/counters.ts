import type { CounterWords } from '../../en/fleet/counters.ts';

/** Words of custom counters; they come with the dialog, not with the first load. */
export const counters: CounterWords = {
  newTitle: 'מונה חדש',
  change: 'שינוי המונה',
  sources: {
    manual: 'קריאות ידניות',
    'sensor-total': 'הסכום שחיישן מציג',
    'sensor-hours': 'שעות שבהן חיישן פועל',
  },
  source: 'נספר לפי',
  sourceHint: 'כשמשנים זאת, מה שנספר נשמר.',
  sensor: 'חיישן',
  sensorGone: 'חיישן שנמחק',
  noSensor: 'אין לרכב חיישן מתאים: הוסיפו אחד תחילה.',
  unit: 'יחידה',
  startsAt: 'סופר מאז',
  startsAtHint: 'ריק: מעכשיו. מועד מוקדם יותר סופר את מה ששמור מאז.',
  saved: 'המונה נשמר.',
  deleted: 'המונה נמחק.',
  remove: (name: string) => `למחוק את "${name}"? גם התיקונים שלו יימחקו.`,
  planCounter: 'מונה מותאם',
  planCounterHint: 'לפי שמו: התוכנית הולכת לפי המונה בשם זה בכל רכב שיש לו אחד כזה.',
  planAmount: 'לפי המונה',
};
