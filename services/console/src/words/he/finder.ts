import { counted } from '../counted.ts';
import type { finder as english } from '../en/finder.ts';

export const finder: typeof english = {
  placeholder: 'רכב, מקום, נהג, דוח, מסך',
  none: 'לא נמצא דבר',
  groups: {
    vehicles: 'כלי רכב',
    geofences: 'אזורים',
    drivers: 'נהגים',
    groups: 'קבוצות',
    reports: 'דוחות',
    screens: 'מסכים',
    actions: 'פעולות',
  },
  actions: {
    vehicle: 'הוספת רכב',
    importVehicles: 'ייבוא כלי רכב מקובץ CSV',
    group: 'הוספת קבוצה',
    driver: 'הוספת נהג',
    assign: 'שיוך נהג',
    user: 'הוספת משתמש',
    rule: 'הוספת כלל התראה',
    plan: 'הוספת תוכנית טיפולים',
    video: 'בקשת וידאו',
    light: 'ערכת נושא בהירה',
    dark: 'ערכת נושא כהה',
    auto: 'ערכת הנושא של המערכת',
  },
  trackOf: (name) => `המסלול של ${name}`,
  eventsOf: (name) => `האירועים של ${name} היום`,
  settingsOf: (name) => `ההגדרות של ${name}`,
  more: (count) => `עוד ${counted('he', count, { other: '#' })}: המשיכו להקליד`,
  found: (count) => counted('he', count, { one: 'תוצאה אחת', two: '# תוצאות', other: '# תוצאות' }),
};
