import type { protection as en } from '../../en/accounts/protection.ts';

export const protection = {
  title: 'הגנת נתונים',
  export: 'ייצוא הנתונים',
  exportMine: 'ייצוא הנתונים שלי',
  exportHint: 'כל מה שהשירות שומר על אדם זה, בקובץ JSON אחד. הוא נשמר כמה ימים.',
  exporting: 'הקובץ בהכנה',
  exportFailed: 'הקובץ לא נוצר',
  save: 'שמירת הקובץ',
  again: 'יצירה מחדש',
  retentionDays: 'שמירת היסטוריה (ימים)',
  retentionHint:
    'מיקומים, אירועים, סרטונים והתראות ישנים יותר של רכביה נמחקים לצמיתות פעם ביום. ריק: ללא הגבלה. מבין כמה קבוצות והצי קובע הזמן הקצר ביותר.',
  fleetDays: 'שמירת היסטוריית הצי (ימים)',
  fleetHint:
    'מיקומים, אירועים, סרטונים והתראות ישנים יותר של כל רכבי הסוכן נמחקים לצמיתות פעם ביום. ריק: ללא הגבלה. אם קבוצה של רכב שומרת פחות זמן, הקבוצה קובעת.',
  operatorFleetHint:
    'מיקומים, אירועים, סרטונים והתראות ישנים יותר של כל הרכבים שאין להם סוכן נמחקים לצמיתות פעם ביום. תקף לכל המפעילים. ריק: ללא הגבלה. אם קבוצה של רכב שומרת פחות זמן, הקבוצה קובעת.',
  saveFleetDays: 'שמירת ההגדרה',
  fleetDaysSaved: 'ההגדרה נשמרה',
  erase: 'מחיקת היסטוריה',
  eraseHint: 'מיקומים, אירועים, סרטונים והתראות מלפני יום זה נמחקים לצמיתות. המונים נשארים כפי שהם.',
  before: 'לפני',
  count: 'ספירה',
  counted: (positions: string, events: string, videos: string, notifications: string) =>
    `${positions} מיקומים, ${events} אירועים, ${videos} סרטונים, ${notifications} התראות`,
  nothing: 'אין דבר מלפני יום זה.',
  eraseQuestion: (day: string) => `למחוק הכול מלפני ${day}? לא ניתן לבטל.`,
  historyFrom: (time: string) => `מה שהיה לפני ${time} נמחק מרכב אחד לפחות מאלה.`,
  incomplete: (from: string, to: string) => `נתונים מ-${from} עד ${to} אבדו: מה שמוצג מהם חלקי.`,
} satisfies typeof en;
