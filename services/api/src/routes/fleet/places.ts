import { z } from 'zod';
import { idOut } from '../../fields/fields.ts';
import { type Route, route } from '../../route.ts';

function degrees(most: number, axis: 'north' | 'east', example: string) {
  return z
    .string()
    .regex(/^[+-]?\d{1,3}(\.\d{1,12})?$/, 'It must be degrees, such as 53.9.')
    .refine((text) => !(Math.abs(Number(text)) > most), `It must be between -${most} and ${most}.`)
    .meta({ description: `In degrees; positive values are ${axis}.`, examples: [example] })
    .transform(Number);
}

const NamedPlace = z
  .strictObject({
    text: z.string(),
    source: z.enum(['geozone', 'address', 'town']).meta({
      description:
        'Source of `text`. `geozone`: the name of the smallest geozone around the place; `address`: its address; `town`: the nearest town.',
    }),
    geozoneId: idOut.nullable().meta({ description: 'Id of the geozone. Null for other sources.' }),
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
    summary: 'Get the name of a place.',
    description:
      'The name is that of the smallest geozone around the place that the caller may see, else the address from the address server of this service, else the nearest town within 100 km.',
    query: z.object({ latitude: degrees(90, 'north', '53.9'), longitude: degrees(180, 'east', '27.5667') }),
    answers: { 200: { description: 'The name of the place. Null if nothing is known about it.', body: PlaceAnswer } },
    async handle({ query }, { access }) {
      const [place = null] = await access.placesOf([query]);
      return { status: 200, body: { place } };
    },
  }),
];
