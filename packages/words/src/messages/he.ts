import { he as sentences } from '../sentences/he.ts';
import type { MessageWords } from './words.ts';

export const he: MessageWords = {
  subject: (sentence) => `אירוע רכב: ${sentence}`,
  lateData: 'נתונים באיחור',
  escalated: (message) => `איש עוד לא אישר את זה: ${message}`,
  lastedNow: (duration) => `, כבר ${duration}`,
  ...sentences,
  labels: {
    time: 'זמן',
    began: 'התחלה',
    ended: 'סיום',
    position: 'מיקום',
    place: 'מקום',
    from: 'מ',
    to: 'אל',
    rule: 'כלל',
    tank: 'מיכל',
    licence: 'הרישיון בתוקף עד',
    dueBy: 'לפי',
    farthest: 'ערך קיצוני',
  },
  causes: { distance: 'מרחק', 'engine-hours': 'שעות מנוע', days: 'ימים', counter: 'מונה' },
  received: (time, delay) => `${time}, ${delay} לאחר האירוע`,
  test: {
    subject: 'בדיקת התראות בדוא״ל',
    text: (rule) => `התראות של הכלל ${rule} נשלחות לכתובת זו. זוהי הודעת בדיקה: לא קרה דבר.`,
  },
  channelTest: { title: 'בדיקה', text: 'זוהי הודעת בדיקה: לא קרה דבר.' },
  code: {
    title: (code) => `קוד: ${code}`,
    text: 'שירות ניהול צי מבקש לשלוח לכאן התראות על רכבים. אם אתם מעוניינים, מסרו את הקוד למי שביקש אותו. אם אינכם יודעים במה מדובר, אל תעשו דבר.',
  },
  footer: {
    why: (url) => `קיבלתם הודעה זו משום שהכתובת רשומה בשירות ניהול הצי ${url}.`,
    unsubscribe: 'ביטול קבלת הודעות',
  },
  confirmation: {
    subject: 'אישור כתובת הדוא״ל שלכם',
    why: (url) =>
      `משתמש בשירות ניהול הצי ${url} מבקש לשלוח לכתובת זו התראות או דוחות על רכבים. אם אתם מעוניינים לקבל אותם, אשרו את הכתובת כאן:`,
    expires: (days) => `הקישור תקף למשך ${days} ימים.`,
    ignore: 'אם אינכם יודעים במה מדובר, אל תעשו דבר: לא יישלח אליכם דבר.',
  },
  accountMails: {
    reset: {
      subject: 'בחירת סיסמה חדשה',
      why: (url, login) => `התבקשה סיסמה חדשה לחשבון ${login} בשירות הצי ${url}. אפשר לבחור אותה כאן:`,
    },
    invitation: {
      subject: 'החשבון שלך בשירות הצי',
      why: (url, login) => `קיבלת את החשבון ${login} בשירות הצי ${url}. אפשר לבחור סיסמה כאן:`,
    },
    expiresHours: (hours) =>
      hours === 1 ? 'הקישור תקף פעם אחת, למשך שעה.' : `הקישור תקף פעם אחת, למשך ${hours} שעות.`,
    expiresDays: (days) => `הקישור תקף פעם אחת, למשך ${days} ימים.`,
    ignore: 'אם לא ברור במה מדובר, אין צורך לעשות דבר: דבר לא ישתנה.',
  },
  accountNotices: {
    subject: (login) => `אופן הכניסה לחשבון ${login} השתנה`,
    about: (login, url, time) => `חשבון ${login} בשירות הצי ${url}, ${time}:`,
    what: {
      'password-changed': 'הסיסמה שונתה.',
      'email-changed': 'הוגדרה כתובת דוא״ל אחרת. הודעות על החשבון כבר לא יגיעו לכאן.',
      'second-factor-enabled': 'הופעל אימות דו־שלבי: קודים של אפליקציה.',
      'second-factor-removed': 'האימות הדו־שלבי הוסר.',
      'recovery-code-used': 'נעשתה כניסה עם קוד שחזור.',
      'passkey-added': (name) => `מפתח הכניסה ${name} נוסף.`,
      'passkey-removed': (name) => `מפתח הכניסה ${name} הוסר.`,
      'sign-in-linked': (name) => `הכניסה דרך ${name} קושרה.`,
      'sign-in-unlinked': (name) => `הכניסה דרך ${name} נותקה.`,
    },
    notYou: (url) => `אם לא עשית זאת, כדאי לקבוע סיסמה אחרת בכתובת ${url} ולפנות למי שמנהל את החשבון.`,
  },
  addressPages: {
    confirm: {
      title: 'אישור כתובת הדוא״ל',
      about: (address) => `לשלוח אל ${address} התראות ודוחות על רכבים משירות ניהול הצי הזה?`,
      button: 'אישור',
    },
    confirmed: {
      title: 'הכתובת אושרה',
      about: (address) => `מעכשיו יישלחו הודעות אל ${address}. בכל אחת מהן יש קישור להפסקת קבלתן.`,
    },
    unsubscribe: {
      title: 'ביטול קבלת הודעות',
      about: (address) => `להפסיק לשלוח אל ${address} הודעות של הצי הזה?`,
      button: 'ביטול קבלת הודעות',
    },
    unsubscribed: {
      title: 'קבלת ההודעות בוטלה',
      about: (address) => `לא יישלחו עוד הודעות של הצי הזה אל ${address}. זו הייתה טעות?`,
      button: 'לקבל שוב הודעות',
    },
    expired: {
      title: 'הקישור אינו תקף עוד',
      about: 'כבר נעשה בו שימוש, פג תוקפו או שהוא אינו שלם.',
    },
    changed: { title: 'נסו שוב', about: 'הכתובת שונתה באותו רגע.' },
  },
  reportMail: {
    title: (report, period) => `דוח ${report}${period === null ? '' : `, ${period}`}`,
    period: (first, last) => `${first} – ${last}`,
    failed: (title) => `${title}: לא ניתן היה להפיק`,
    reasons: {
      gone: 'מה שהדוח מתייחס אליו אינו קיים עוד, או שאין לכם הרשאה לראות אותו.',
      'too-large': 'הדוח גדול מדי: בחרו פחות רכבים או פרק זמן קצר יותר.',
      failed: 'השירות לא הצליח להפיק את הדוח. הפיקו אותו שוב במסוף או המתינו לדוח הבא.',
    },
    tooLarge: (megabytes, url) => `גודלו ${megabytes} MB, יותר מדי להודעת דוא״ל. הוא נמצא בכתובת ${url}`,
    labels: {
      schedule: 'תזמון',
      rows: 'שורות',
      daysOf: 'ימים לפי',
      made: 'הופק',
      file: 'קובץ',
      reason: 'סיבה',
    },
  },
};
