import { EVENT_DESCRIPTIONS, type EventField, shownNameOf } from '@outrider/domain';
import { z } from 'zod';
import { idOut } from './fields.ts';

interface Use {
  kinds: string[];
  about: string | undefined;
}

/** Fields that only events of some kinds have, by their names in the APIs. Each description names the kinds. */
export function eventFields(): Record<string, z.ZodType> {
  const found = new Map<string, { field: EventField; isNullable: boolean; uses: Use[] }>();
  for (const { kinds, fields } of EVENT_DESCRIPTIONS)
    for (const [name, field] of Object.entries(fields)) {
      if (field.type === 'degrees') continue;
      const known = found.get(name) ?? { field, isNullable: false, uses: [] };
      known.isNullable ||= field.isNullable;
      const alike = known.uses.find(({ about }) => about === field.about);
      if (alike) alike.kinds.push(...Object.keys(kinds));
      else known.uses.push({ kinds: Object.keys(kinds), about: field.about });
      found.set(name, known);
    }
  return Object.fromEntries(
    [...found].map(([name, { field, isNullable, uses }]) => {
      const type = schemaOf(field);
      const shown = isNullable ? type.nullable() : type;
      return [shownNameOf(name), shown.optional().meta({ description: uses.map(sentenceOf).join(' ') })];
    }),
  );
}

function sentenceOf({ kinds, about }: Use): string {
  const names = `For ${kinds.map((kind) => `\`${kind}\``).join(', ')}`;
  return about === undefined ? `${names}.` : `${names}: ${about[0]?.toLowerCase()}${about.slice(1)}`;
}

function schemaOf({ type, values = [] }: EventField): z.ZodType {
  switch (type) {
    case 'id':
      return idOut;
    case 'choice':
    case 'word':
      return values.length > 0 ? z.enum(values as [string, ...string[]]) : z.string();
    case 'text':
      return z.string();
    case 'flag':
      return z.boolean();
    default:
      return z.number();
  }
}
