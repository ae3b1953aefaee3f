export const customFields = {
  title: 'Integración',
  externalId: 'ID externo',
  externalIdHint: 'Cómo lo llama otro sistema',
  attributes: 'Atributos',
  attributesHint:
    'Uno por línea: nombre = valor. Los números, true y false se guardan como tales; el texto entre comillas sigue siendo texto.',
  badLine: (line: number) => `La línea ${line} no tiene la forma nombre = valor.`,
};
