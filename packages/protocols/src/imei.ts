import type { TerminalId } from '@outrider/domain';

/** An IMEI that belongs to no real device, with a correct Luhn digit. */
export function exampleImei(number: number): TerminalId {
  const digits = `35999900${String(number).padStart(6, '0')}`;
  const sum = [...digits].reduce((total, digit, index) => {
    const weighed = Number(digit) * (index % 2 === 0 ? 1 : 2);
    return total + (weighed > 9 ? weighed - 9 : weighed);
  }, 0);
  return `${digits}${(10 - (sum % 10)) % 10}` as TerminalId;
}
