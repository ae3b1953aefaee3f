import type { MaintenanceImportWords } from '../../en/fleet/maintenance-import.ts';

export const maintenanceImport: MaintenanceImportWords = {
  readings: 'קריאות מונים',
  plansHint:
    'קובץ CSV עם שורת כותרת. כל שורה יוצרת תוכנית לכלי רכב או לקבוצה, לפי אחת העמודות הראשונות: כל כך וכך קילומטרים, שעות מנוע או ימים.',
  readingsHint:
    'קובץ CSV עם שורת כותרת. כל שורה אומרת מה הראה מונה של כלי רכב: קילומטרים, או שעות כשהמונה הוא engine-hours. בלי זמן – עכשיו.',
  added: (count: string) => `חדשים: ${count}.`,
};
