import type { TerminalId } from '../ids.ts';

/** An IMEI without its check digit: the part of an IMEI that fits into six bytes as a binary number. */
const IMEI_DIGITS_WITHOUT_CHECK = 14;

/**
 * The ids that a terminal may be registered under, by the number in its headers. The first is the one that an operator
 * most likely finds on the terminal:
 * - a decimal number is taken unchanged: a phone number, or an IMEI with two digits a byte;
 * - a number with other hexadecimal digits is taken as an IMEI in binary where it has 14 decimal digits: the check
 *   digit, which is not sent, is appended;
 * - any other number is taken as hexadecimal digits, which may have been registered in upper case.
 *
 * A decimal number can by chance be an IMEI in binary: this reading is tried last.
 *
 * @param number hexadecimal digits in lower case without leading zeros
 */
export function terminalIdsOf(number: string): readonly [TerminalId, ...TerminalId[]] {
  const binary = BigInt(`0x${number}`).toString();
  const imei = binary.length === IMEI_DIGITS_WITHOUT_CHECK ? [`${binary}${luhnDigit(binary)}` as TerminalId] : [];
  const written = number as TerminalId;
  if (/^\d+$/.test(number)) return [written, ...imei];
  const hexadecimal: [TerminalId, TerminalId] = [written, number.toUpperCase() as TerminalId];
  return imei[0] === undefined ? hexadecimal : [imei[0], ...hexadecimal];
}

/** The check digit of an IMEI (Luhn's formula; 3GPP TS 23.003, annex B). */
function luhnDigit(digits: string): number {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[i]);
    const isDoubled = (digits.length - i) % 2 === 1;
    sum += isDoubled ? Math.floor(digit / 5) + ((2 * digit) % 10) : digit;
  }
  return (10 - (sum % 10)) % 10;
}

/** Digits of the longest number in a header: two in each of its 10 bytes (2019 edition). */
const MAX_NUMBER_DIGITS = 20;

/**
 * A phone number in the form in which profiles and the gateway compare it: digits only, without the zeros that
 * terminals pad it with.
 */
export function phoneAddress(text: string): string {
  return text.replace(/^0+(?=.)/, '');
}

/**
 * The ids under which the terminal with this address may be registered. The terminal belongs to the vehicle with the
 * first of them. Ids by which the gateway knows the terminal come first; ids padded with leading zeros, by which it
 * does not, come last.
 *
 * @param address decimal digits
 */
export function terminalIdsOfAddress(address: string): TerminalId[] {
  const number = phoneAddress(address);
  const padded: TerminalId[] = [];
  for (let length = number.length + 1; length <= MAX_NUMBER_DIGITS; length++)
    padded.push(number.padStart(length, '0') as TerminalId);
  return [...terminalIdsOf(number), ...padded];
}

/**
 * The addresses of the terminal with this id: those for which {@link terminalIdsOfAddress} returns the id. Empty where
 * the id is not a possible number.
 */
export function addressesOfTerminal(terminalId: TerminalId): string[] {
  if (!/^\d{1,20}$/.test(terminalId)) return [];
  const addresses = [phoneAddress(terminalId)];
  if (terminalId.length === IMEI_DIGITS_WITHOUT_CHECK + 1) {
    const number = BigInt(terminalId.slice(0, -1)).toString(16);
    if (/^\d+$/.test(number) && terminalIdsOf(number).includes(terminalId)) addresses.push(number);
  }
  return addresses;
}
