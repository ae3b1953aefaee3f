/** Characters of header names in RFC 9110. */
const NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/;
/** Characters of values that are transmitted unambiguously. */
const VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
const MAX_VALUE = 2000;
/** Headers that the connection itself sets. */
export const CONNECTION_HEADERS =
  /^(?:host|connection|keep-alive|content-length|content-type|transfer-encoding|te|trailer|upgrade|expect|proxy-.*)$/i;
/** Headers of the body, and those used for signing messages. */
const OWN_HEADERS = /^(?:content-.*|date|webhook-.*)$/i;

/** Why a header can't be added to requests of the service, as a sentence for its author; null if it can. */
export function headerFault(name: string, value: string): string | null {
  if (!NAME.test(name)) return 'Its name must have 1 to 64 letters, digits and hyphens.';
  if (CONNECTION_HEADERS.test(name) || OWN_HEADERS.test(name)) return `${name} is written by the service itself.`;
  if (value.length > MAX_VALUE || !VALUE.test(value))
    return `Its value must have 1 to ${MAX_VALUE} characters of ASCII, with no space at either end.`;
  return null;
}
