import { counted } from '../../counted.ts';

export const groups = {
  newGroup: 'Новая группа',
  none: 'Групп пока нет',
  noneHint: 'Группа определяет, кто какие машины видит: добавьте машины и дайте людям доступ.',
  nothingFound: 'Ни одна группа не подходит',
  searchGroups: 'Название группы',
  saved: 'Группа сохранена.',
  deleted: 'Группа удалена.',
  deleteQuestion: (name: string, vehicles: number) =>
    `Удалить «${name}»? Она исчезнет у машин (${vehicles}), людей и геозон. Сами машины останутся.`,
  vehicles: 'Машины группы',
  people: 'Люди с доступом',
  addVehicles: 'Добавить машины',
  addPeople: 'Дать доступ',
  remove: (name: string) => `Убрать: ${name}`,
  add: 'Добавить',
  noVehicles: 'В группе нет машин',
  noPeople: 'По этой группе доступа нет ни у кого; операторы и её дилер видят её и так.',
  peopleAdded: (count: number) =>
    counted('ru', count, {
      one: 'Доступ дан # человеку.',
      few: 'Доступ дан # людям.',
      other: 'Доступ дан # людям.',
    }),
  vehiclesAdded: (count: number) =>
    counted('ru', count, { one: 'Добавлена # машина.', few: 'Добавлены # машины.', other: 'Добавлено # машин.' }),
  removed: (name: string) => `Убрано: ${name}.`,
  gone: 'Такой группы нет, или вы её больше не видите.',
  showVehicles: 'Показать в списке транспорта',
};
