/**
 * Every variable that some service reads. Services share one environment, so what another service reads is not
 * misspelt; a test holds the list against the services.
 */
export const KNOWN_VARIABLES: readonly string[] = [];
