export const customFields = {
  title: 'Интеграция',
  externalId: 'Внешний ID',
  externalIdHint: 'Под каким именем известно другой системе',
  attributes: 'Атрибуты',
  attributesHint:
    'По одному в строке: имя = значение. Числа, true и false хранятся как есть; текст в кавычках остаётся текстом.',
  badLine: (line: number) => `Строка ${line} не имеет вида имя = значение.`,
};
