export const customFields = {
  title: 'Integration',
  externalId: 'External ID',
  externalIdHint: 'What another system knows it by',
  attributes: 'Attributes',
  attributesHint:
    'One in each line: name = value. Numbers, true and false are kept as such; text in quotes stays text.',
  badLine: (line: number) => `Line ${line} is not of the form name = value.`,
};
