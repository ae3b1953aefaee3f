import { counted } from '../counted.ts';
import type { Words } from '../en.ts';

export const parts: Words['parts'] = {
  changedMeanwhile: 'מישהו אחר שינה זאת בינתיים. דבר לא נשמר.',
  mine: 'שלך',
  theirs: 'של האחר',
  takeTheirs: 'לקבל את הגרסה האחרת',
  keepMine: 'להשאיר את הגרסה שלי',
  chooseRow: 'בחירת השורה',
  chooseAll: 'בחירת כל השורות',
  chooseNone: 'ביטול הבחירה',
  nothingChosen: 'לא נבחר דבר',
  noneFound: 'לא נמצא דבר',
  chosen: (count: number) => counted('he', count, { one: 'נבחר #', other: 'נבחרו #' }),
  showMore: 'להציג עוד',
  interval: 'טווח זמן',
  ownInterval: 'מ־… עד …',
  from: 'מ־',
  to: 'עד',
  presets: {
    today: 'היום',
    yesterday: 'אתמול',
    last7days: '7 הימים האחרונים',
    thisWeek: 'השבוע',
    lastWeek: 'השבוע שעבר',
    thisMonth: 'החודש',
    lastMonth: 'החודש שעבר',
    last30days: '30 הימים האחרונים',
  },
  jobStates: {
    queued: 'ממתין בתור',
    running: 'פועל',
    done: 'הסתיים',
    failed: 'נכשל',
    cancelled: 'בוטל',
  },
};
