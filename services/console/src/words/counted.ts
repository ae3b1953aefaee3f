type Forms = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string };

const rules = new Map<string, { plural: Intl.PluralRules; number: Intl.NumberFormat }>();

/** A number with its noun. In the language's plural form, `#` stands for the number. */
export function counted(language: string, count: number, forms: Forms): string {
  let own = rules.get(language);
  if (own === undefined) {
    own = { plural: new Intl.PluralRules(language), number: new Intl.NumberFormat(language) };
    rules.set(language, own);
  }
  return (forms[own.plural.select(count)] ?? forms.other).replace('#', own.number.format(count));
}
