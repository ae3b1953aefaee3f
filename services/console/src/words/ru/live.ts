import { counted } from '../counted.ts';
import type { live as english } from '../en/live.ts';

export const live = {
  title: 'От пакета до карты',
  none: 'За последнюю минуту не было позиций, или карта не показывает каждую из них.',
  of: (count: number) =>
    counted('ru', count, {
      one: '# позиция за последнюю минуту, 99 из 100 за',
      few: '# позиции за последнюю минуту, 99 из 100 за',
      many: '# позиций за последнюю минуту, 99 из 100 за',
      other: '# позиции за последнюю минуту, 99 из 100 за',
    }),
  stages: { service: 'Сервис', network: 'Сеть', page: 'Эта страница' },
  median: 'Половина за',
  hint: 'От получения пакета терминала до кадра, который показывает его позицию.',
} satisfies typeof english;
