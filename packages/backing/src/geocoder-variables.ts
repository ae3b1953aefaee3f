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
    'Server that knows the addresses of places, such as `https://nominatim.example/`; where unset, a place is called by its nearest town.',
  ),
  GEOCODER_FORMAT: oneOf(SERVER_FORMATS, 'nominatim', 'What that server speaks.'),
  GEOCODER_PER_SECOND: whole(
    1,
    10_000,
    1,
    'Calls a second to that server, of each process, and where all runs in one of its reports as much again; a public server may demand 1, an own one can take more.',
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
            if (failure === null) logger.info('the address server answers again');
            else logger.warn({ failure }, 'the address server fails; places are called by their nearest towns');
          },
        });
  return openGeocoder({
    addressServer,
    openGazetteer,
    onError: (error) => logger.error({ err: error }, 'the towns can not be read; places have no names'),
  });
}
