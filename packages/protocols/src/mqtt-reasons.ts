/** First failure among the reason codes of MQTT 5. */
export const MQTT_FIRST_FAILURE = 128;

/** Codes of a broker that does not support the version: of MQTT 3.1.1 and of MQTT 5. */
const WRONG_VERSION: ReadonlySet<number> = new Set([1, 132]);

/** Texts by the codes of MQTT 3.1.1 (up to 5) and of MQTT 5. */
const REASONS: Readonly<Record<number, string>> = {
  2: 'client id rejected',
  3: 'server unavailable',
  4: 'bad user name or password',
  5: 'not authorized',
  133: 'client id not valid',
  134: 'bad user name or password',
  135: 'not authorized',
  136: 'server unavailable',
  137: 'server busy',
  138: 'banned',
};

/** Whether the broker refuses the connection only because of the MQTT version. */
export function isWrongMqttVersion(code: number): boolean {
  return WRONG_VERSION.has(code);
}

/** Why a broker refused something, such as `not authorized`. */
export function mqttReason(code: number): string {
  return REASONS[code] ?? `reason ${code}`;
}
