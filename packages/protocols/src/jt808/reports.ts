import { type AttributeValue, blankPosition, type Position } from '@outrider/domain';
import { readTime, TIME_BYTES } from './bcd.ts';
import { readText } from './text.ts';

/** Maximum number of bytes passed through from a device that is connected to the terminal. */
const MAX_TRANSPARENT_BYTES = 2048;

const CARD = { inserted: 1, removed: 2 } as const;
const CARD_READ = 0;
/** Bytes of the qualification code, and in the edition of 2019 of the identity card number. */
const CODE_BYTES = 20;
/** Lengths as of 2011, when messages had no leading state. */
const CODE_BYTES_OF_2011 = { identity: 20, qualification: 40 } as const;

/** A vehicle without a plate registers with its VIN. */
const NO_PLATE = 0;
const VIN = /^[A-HJ-NPR-Z\d]{17}$/;

/** A position that is not valid, for data sent without a place. */
function withoutPlace(timeMs: number, attributes: Record<string, AttributeValue>): Position {
  const position = blankPosition(timeMs, 0, 0);
  position.valid = false;
  position.attributes = attributes;
  return position;
}

/**
 * Reads the driver's identity (0x0702): the driver inserted or removed a card.
 *
 * @param nowMs the time where the terminal does not give one
 * @returns null where it is cut off
 */
export function readDriver(body: Buffer, nowMs: number): Position | null {
  const state = body[0] ?? 0;
  if (state !== CARD.inserted && state !== CARD.removed) return readDriverOf2011(body, nowMs);
  if (body.length < 1 + TIME_BYTES) return null;
  const timeMs = readTime(body, 1) ?? nowMs;
  if (state === CARD.removed) return withoutPlace(timeMs, { driverCardInserted: false });
  const result = body[1 + TIME_BYTES];
  if (result === undefined) return null;
  const attributes: Record<string, AttributeValue> = { driverCardInserted: true, driverCardReadResult: result };
  if (result !== CARD_READ) return withoutPlace(timeMs, attributes);

  const nameAt = 2 + TIME_BYTES + 1;
  const codeAt = nameAt + (body[nameAt - 1] ?? 0);
  const issuerAt = codeAt + CODE_BYTES + 1;
  const validAt = issuerAt + (body[issuerAt - 1] ?? 0);
  if (body.length < validAt + 4) return null;
  keepText(attributes, 'driverName', body, nameAt, codeAt);
  keepText(attributes, 'driverCode', body, codeAt, codeAt + CODE_BYTES);
  keepText(attributes, 'driverCardIssuer', body, issuerAt, validAt);
  const valid = body.toString('hex', validAt, validAt + 4);
  if (/^\d{8}$/.test(valid) && valid !== '00000000') attributes.driverCardValidUntil = valid;
  keepText(attributes, 'driverIdentity', body, validAt + 4, Math.min(body.length, validAt + 4 + CODE_BYTES));
  return withoutPlace(timeMs, attributes);
}

/** Name, identity card, qualification, issuer: a terminal of 2011 sends nothing else. */
function readDriverOf2011(body: Buffer, nowMs: number): Position | null {
  const identityAt = 1 + (body[0] ?? 0);
  const codeAt = identityAt + CODE_BYTES_OF_2011.identity;
  const issuerAt = codeAt + CODE_BYTES_OF_2011.qualification + 1;
  if (body.length < issuerAt || body.length !== issuerAt + (body[issuerAt - 1] as number)) return null;
  const attributes: Record<string, AttributeValue> = { driverCardInserted: true };
  keepText(attributes, 'driverName', body, 1, identityAt);
  keepText(attributes, 'driverIdentity', body, identityAt, codeAt);
  keepText(attributes, 'driverCode', body, codeAt, issuerAt - 1);
  keepText(attributes, 'driverCardIssuer', body, issuerAt, body.length);
  return withoutPlace(nowMs, attributes);
}

/** Lengths of maker, model and terminal number: as of 2013, as of 2019, and as of 2019 at registration. */
const PROPERTY_BYTES = [
  [5, 20, 7],
  [5, 30, 30],
  [11, 30, 30],
] as const;

/**
 * Reads the properties of the terminal (0x0107). Terminals do not adhere to the lengths of their edition: all are
 * tried.
 *
 * @returns null where none of the lengths matches
 */
export function readProperties(body: Buffer, nowMs: number): Position | null {
  for (const [makerBytes, modelBytes, idBytes] of PROPERTY_BYTES) {
    const attributes = propertiesWith(body, makerBytes, modelBytes, idBytes);
    if (attributes !== null) return withoutPlace(nowMs, attributes);
  }
  return null;
}

function propertiesWith(
  body: Buffer,
  makerBytes: number,
  modelBytes: number,
  idBytes: number,
): Record<string, AttributeValue> | null {
  const modelAt = 2 + makerBytes;
  const iccidAt = modelAt + modelBytes + idBytes;
  const hardwareAt = iccidAt + 10 + 1;
  const firmwareAt = hardwareAt + (body[hardwareAt - 1] ?? 0) + 1;
  const end = firmwareAt + (body[firmwareAt - 1] ?? 0);
  // The last two bytes are the kinds of satellites and of networks.
  if (body.length !== end + 2) return null;
  const attributes: Record<string, AttributeValue> = { terminalKindBits: body.readUInt16BE(0) };
  keepText(attributes, 'manufacturer', body, 2, modelAt);
  keepText(attributes, 'terminalModel', body, modelAt, modelAt + modelBytes);
  keepText(attributes, 'terminalSerial', body, modelAt + modelBytes, iccidAt);
  const iccid = body.toString('hex', iccidAt, iccidAt + 10);
  if (!/^0+$/.test(iccid)) attributes.iccid = iccid;
  keepText(attributes, 'hardwareVersion', body, hardwareAt, firmwareAt - 1);
  keepText(attributes, 'firmwareVersion', body, firmwareAt, end);
  return attributes;
}

/**
 * Reads transparent data (0x0900): a kind, and bytes whose meaning only the connected device defines.
 *
 * @returns null where it is cut off, or too long to be kept
 */
export function readTransparent(body: Buffer, nowMs: number): Position | null {
  if (body.length === 0 || body.length > 1 + MAX_TRANSPARENT_BYTES) return null;
  return withoutPlace(nowMs, {
    transparentKind: body[0] as number,
    transparentData: body.toString('hex', 1),
  });
}

/** The VIN of a registration, which replaces the plate; null where there is a plate. */
export function readVin(body: Buffer, plateAt: number, nowMs: number): Position | null {
  if (body[plateAt] !== NO_PLATE) return null;
  const vin = readText(body, plateAt + 1, body.length);
  return VIN.test(vin) ? withoutPlace(nowMs, { vin }) : null;
}

function keepText(
  attributes: Record<string, AttributeValue>,
  name: string,
  body: Buffer,
  from: number,
  to: number,
): void {
  const text = from < to ? readText(body, from, to) : '';
  if (text !== '') attributes[name] = text;
}
