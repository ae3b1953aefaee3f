// Generated from the descriptions of events by `npm run openapi`. Do not edit.

export const events = {
  "geofence-visit": "אזור",
  "speeding": "מהירות מופרזת",
  "trip": "נסיעה",
  "parking": "חניה",
  "idling": "מנוע פועל בעמידה",
  "ignition": "הצתה",
  "alarm": "אזעקה",
  "power-cut": "ניתוק מתח",
  "offline": "מנותק",
  "maintenance-due": "טיפול",
  "driver-shift": "משמרת נהג",
  "refuelling": "תדלוק",
  "fuel-drain": "ריקון דלק",
  "sensor-threshold": "חריגת חיישן",
  "harsh-driving": "נהיגה חדה"
} as const;

export const eventHints = {
  "geofence-visit": "מתחיל כשרכב נכנס לאזור ומסתיים כשהוא יוצא.",
  "speeding": "מהר מהמגבלה של הרכב או של אזור.",
  "trip": "מתחיל כשהרכב יוצא לדרך ומסתיים כשהוא עוצר לזמן ארוך.",
  "parking": "הרכב עומד וההצתה כבויה.",
  "idling": "הרכב עומד וההצתה דולקת.",
  "ignition": "מתחיל בהדלקת ההצתה ומסתיים בכיבויה.",
  "alarm": "המסוף ברכב מפעיל אזעקה.",
  "power-cut": "המסוף ברכב איבד את המתח החיצוני.",
  "offline": "לא מגיע דבר מהמסוף ברכב מעבר לזמן המותר.",
  "maintenance-due": "טיפול מתקרב או שהגיע מועדו.",
  "driver-shift": "כרטיס או מפתח של נהג נקרא או הוסר.",
  "refuelling": "המכל מתודלק.",
  "fuel-drain": "דלק יוצא מהמכל בלי שהמנוע שרף אותו.",
  "sensor-threshold": "חיישן חרג מאחד הספים שלו.",
  "harsh-driving": "האצה, בלימה או פנייה מעבר לגבול של הרכב או של המסוף."
} as const;
