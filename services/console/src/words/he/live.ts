import { counted } from '../counted.ts';
import type { live as english } from '../en/live.ts';

export const live = {
  title: 'מהחבילה אל המפה',
  none: 'לא הגיע אף מיקום בדקה האחרונה, או שהמפה אינה מציגה כל אחד מהם.',
  of: (count: number) =>
    counted('he', count, {
      one: 'מיקום אחד בדקה האחרונה, 99 מתוך 100 בתוך',
      other: '# מיקומים בדקה האחרונה, 99 מתוך 100 בתוך',
    }),
  stages: { service: 'שירות', network: 'רשת', page: 'הדף הזה' },
  median: 'מחציתם בתוך',
  hint: 'מרגע קבלת החבילה של מסוף ועד לתמונה שמציגה את מיקומו.',
} satisfies typeof english;
