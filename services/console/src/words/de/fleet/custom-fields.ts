export const customFields = {
  title: 'Anbindung',
  externalId: 'Externe ID',
  externalIdHint: 'So heißt es in einem anderen System',
  attributes: 'Attribute',
  attributesHint:
    'Eines je Zeile: Name = Wert. Zahlen, true und false bleiben, was sie sind; Text in Anführungszeichen bleibt Text.',
  badLine: (line: number) => `Zeile ${line} hat nicht die Form Name = Wert.`,
};
