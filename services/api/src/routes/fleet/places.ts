import { z } from 'zod';
import { idOut } from '../../fields/fields.ts';
import { type Route, route } from '../../route.ts';

function degrees(most: number, axis: 'north' | 'east', example: string) {
  return z
    .string()
    .regex(/^[+-]?\d{1,3}(\.\d{1,12})?$/, 'must be degrees, such as 53.9')
    .refine((text) => !(Math.abs(Number(text)) > most), `must be between -${most} and ${most}`)
    .meta({ description: `Degrees, positive ${axis}.`, examples: [example] })
    .transform(Number);
}

const NamedPlace = z
  .strictObject({
    text: z.string(),
    source: z.enum(['geozone', 'address', 'town']).meta({
      description:
        '`geozone`: the smallest of the caller’s geozones around it; `address`: its address; `town`: the nearest town.',
    }),
    geozoneId: idOut.nullable().meta({ description: 'Of a geozone.' }),
  })
  .meta({ id: 'NamedPlace', examples: [{ text: '7 km NW of Barysaw, Belarus', source: 'town', geozoneId: null }] });

const PlaceAnswer = z.strictObject({ place: NamedPlace.nullable() }).meta({
  id: 'PlaceAnswer',
  examples: [{ place: { text: '7 km NW of Barysaw, Belarus', source: 'town', geozoneId: null } }],
});

export const placeRoutes: Route[] = [
  route({
    method: 'get',
    path: '/api/v1/place',
    group: 'Geozones',
    operationId: 'namePlace',
    summary: 'What a place is called.',
    description:
      'By the smallest of the caller’s geozones around it, else by the address server of this service, else by the nearest town within 100 km.',
    query: z.object({ latitude: degrees(90, 'north', '53.9'), longitude: degrees(180, 'east', '27.5667') }),
    answers: { 200: { description: 'The place in words; null where nothing is known.', body: PlaceAnswer } },
    async handle({ query }, { access }) {
      const [place = null] = await access.placesOf([query]);
      return { status: 200, body: { place } };
    },
  }),
];
