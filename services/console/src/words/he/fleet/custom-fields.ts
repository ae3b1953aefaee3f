export const customFields = {
  title: 'אינטגרציה',
  externalId: 'מזהה חיצוני',
  externalIdHint: 'השם שלו במערכת אחרת',
  attributes: 'מאפיינים',
  attributesHint: 'אחד בכל שורה: name = value. מספרים, true ו-false נשמרים כפי שהם; טקסט במירכאות נשאר טקסט.',
  badLine: (line: number) => `שורה ${line} אינה בצורה name = value.`,
};
