import { type Geocoder, openAddressServer, openGazetteer, openGeocoder, SERVER_FORMATS } from '@outrider/geocoder';
import { type Config, type Logger, oneOf, type Variable, type Variables, whole } from '@outrider/runtime';

/** Timeout of a call to the address server. */
const TIMEOUT_MS = 2000;

function serverUrl(description: string): Variable<string | null> {
  return {
    description,
    fallback: undefined,
    // The URL may contain a key.
    secret: true,
    parse(value) {
      if (!URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol))
        throw new Error('an http:// or https:// address');
      return value;
    },
  };
}

/** Settings of the geocoder, for each service that names places. */
export const geocoderVariables = {
  GEOCODER_URL: serverUrl(
    'URL of a geocoding server for street addresses, such as `https://nominatim.example/`. If unset, places are named after the nearest town.',
  ),
  GEOCODER_FORMAT: oneOf(SERVER_FORMATS, 'nominatim', 'API of that server.'),
  GEOCODER_PER_SECOND: whole(
    1,
    10_000,
    1,
    'Calls per second to that server from each process. If all runs in one process, reports may use as many again. Public servers may demand 1; your own server can handle more.',
  ),
} satisfies Variables;

/** The geocoder of the settings. It loads and queries nothing before its first place. */
export function geocoderOf(config: Config<typeof geocoderVariables>, logger: Logger): Geocoder {
  const { GEOCODER_URL: url, GEOCODER_FORMAT: format, GEOCODER_PER_SECOND: perSecond } = config;
  const addressServer =
    url === null
      ? null
      : openAddressServer({
          url,
          format,
          perSecond,
          timeoutMs: TIMEOUT_MS,
          onState: (failure) => {
            if (failure === null) logger.info('the geocoding server recovered');
            else logger.warn({ failure }, 'the geocoding server fails; naming places after the nearest town');
          },
        });
  return openGeocoder({
    addressServer,
    openGazetteer,
    onError: (error) => logger.error({ err: error }, 'cannot read the list of towns; places have no names'),
  });
}
