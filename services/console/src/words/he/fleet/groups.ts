import { counted } from '../../counted.ts';

export const groups = {
  newGroup: 'קבוצה חדשה',
  none: 'עדיין אין קבוצות',
  noneHint: 'קבוצה קובעת מי רואה אילו כלי רכב: הוסיפו כלי רכב ותנו גישה לאנשים.',
  nothingFound: 'אין קבוצה תואמת',
  searchGroups: 'שם קבוצה',
  saved: 'הקבוצה נשמרה.',
  deleted: 'הקבוצה נמחקה.',
  deleteQuestion: (name: string, vehicles: number) =>
    `למחוק את ”${name}”? היא תוסר מ־${vehicles} כלי רכב, מאנשים ומגדרות גאוגרפיות. כלי הרכב יישארו.`,
  vehicles: 'כלי הרכב בקבוצה',
  people: 'אנשים עם גישה',
  addVehicles: 'הוספת כלי רכב',
  addPeople: 'מתן גישה',
  remove: (name: string) => `הסרת ${name}`,
  add: 'הוספה',
  noVehicles: 'אין כלי רכב בקבוצה',
  noPeople: 'לאיש אין גישה דרך קבוצה זו; מפעילים והמשווק שלה רואים אותה בכל מקרה.',
  peopleAdded: (count: number) =>
    counted('he', count, {
      one: 'ניתנה גישה לאדם אחד.',
      two: 'ניתנה גישה לשני אנשים.',
      other: 'ניתנה גישה ל־# אנשים.',
    }),
  vehiclesAdded: (count: number) =>
    counted('he', count, { one: 'נוסף כלי רכב אחד.', two: 'נוספו שני כלי רכב.', other: 'נוספו # כלי רכב.' }),
  removed: (name: string) => `${name} הוסר.`,
  gone: 'קבוצה זו אינה קיימת, או שאינכם רשאים עוד לראותה.',
  showVehicles: 'הצגה ברשימת כלי הרכב',
};
