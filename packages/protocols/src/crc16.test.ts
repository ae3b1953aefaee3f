import { expect, test } from 'vitest';
import { crc16Arc, crc16CcittFalse, crc16Kermit, crc16Modbus, crc16X25 } from './crc16.ts';

// "123456789" is the check input that every catalogue of CRCs gives the result for.
const check = Buffer.from('x123456789x');

test('CRC-16/ARC', () => expect(crc16Arc(check, 1, 10)).toBe(0xbb3d));
test('CRC-16/CCITT-FALSE', () => expect(crc16CcittFalse(check, 1, 10)).toBe(0x29b1));
test('CRC-16/X-25', () => expect(crc16X25(check, 1, 10)).toBe(0x906e));
test('CRC-16/KERMIT', () => expect(crc16Kermit(check, 1, 10)).toBe(0x2189));
test('CRC-16/MODBUS', () => expect(crc16Modbus(check, 1, 10)).toBe(0x4b37));
