import type { Words } from '../en.ts';

export const maps: Words['maps'] = {
  map: 'מפה',
  world: 'העולם (לא מקוון)',
  online: 'מפה מקוונת',
  measure: 'מדידת מרחק',
  measureHint: 'לחצו על נקודות במפה',
  failed: 'לא ניתן להציג את המפה שנבחרה; זו מפת העולם.',
};
