export const customFields = {
  title: 'Integration',
  externalId: 'External ID',
  externalIdHint: 'Its id in another system',
  attributes: 'Attributes',
  attributesHint: 'One per line: name = value. Numbers, true and false are stored as such; text in quotes stays text.',
  badLine: (line: number) => `Line ${line} is not of the form name = value.`,
};
