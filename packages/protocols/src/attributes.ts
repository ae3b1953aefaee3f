import type { AttributeValue } from '@outrider/domain';

/**
 * Attributes with the same meaning for every brand of terminal; sensors and rules use them. A codec sets them in
 * addition to the terminal's own names. `<n>` counts from 1. Digital states are booleans.
 */
export const ATTRIBUTES = {
  externalPowerV: 'voltage of the vehicle’s supply',
  batteryPercent: 'charge of the terminal’s battery',
  batteryV: 'voltage of the terminal’s battery',
  gsmSignalPercent: 'strength of the mobile signal',
  mcc: 'mobile country code',
  mnc: 'mobile network code',
  lac: 'location area code',
  cellId: 'mobile cell',
  hdop: 'horizontal dilution of precision',
  charging: 'the terminal’s battery is charged',
  armed: 'the alarm system is armed',
  fuelCut: 'the engine is blocked',
  'temperature<n>C': 'temperature sensor',
  'humidity<n>Percent': 'humidity sensor',
  'fuel<n>Percent': 'level of a tank',
  'fuel<n>L': 'contents of a tank',
  'fuelLevel<n>': 'raw value of a level sensor: a calibration table makes litres of it',
  'fuel<n>C': 'temperature of the fuel in a tank',
  fuelUsedL: 'fuel used since the vehicle was made',
  rpm: 'engine speed, revolutions per minute',
  engineHours: 'hours that the engine has run',
  engineTemperatureC: 'coolant temperature',
  throttlePercent: 'position of the accelerator pedal',
  canSpeedKmh: 'speed by the vehicle’s bus',
  canOdometerM: 'odometer of the vehicle’s bus',
  driverCode: 'code of the driver’s card or key, as printed on it',
  driverName: 'name of the driver, as the card has it',
  driverCardInserted: 'a card is in the reader',
  vin: 'vehicle identification number',
  iccid: 'number of the SIM card',
  'tyre<n>Kpa': 'pressure of a tyre',
  'tyre<n>C': 'temperature of a tyre',
  passengersIn: 'passengers who got in since the last record',
  passengersOut: 'passengers who got out since the last record',
  tripM: 'distance since the last record',
  'input<n>': 'digital input',
  'output<n>': 'digital output',
  'door<n>': 'a door is open',
  'analog<n>V': 'analog input',
  eventCode: 'why the terminal sent the record, by the maker’s numbers',
  deviceTemperatureC: 'temperature within the terminal',
  text: 'message of the terminal, or of a device that is connected to it',
} as const;

/** Signal quality in percent, from the 0 to 31 that modems report (AT+CSQ); 99 means unknown. */
export function signalPercentOfCsq(csq: number): number | null {
  return csq >= 0 && csq <= 31 ? Math.round((csq * 100) / 31) : null;
}

/** Names the lowest bits of a word as digital states: `input1` is bit 0. */
export function setStates(
  attributes: Record<string, AttributeValue>,
  name: 'input' | 'output',
  bits: number,
  first = 1,
): void {
  for (let index = 0; index < 8; index += 1) attributes[`${name}${first + index}`] = (bits & (1 << index)) !== 0;
}
