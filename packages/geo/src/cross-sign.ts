/** Veltkamp's constant: splits a double into two halves of 26 bits whose products are exact. */
const SPLITTER = 134_217_729;

/** Rounding error of `product` = `a * b` (Dekker): exact unless it underflows. */
function productError(a: number, b: number, product: number): number {
  const aBig = SPLITTER * a;
  const aHigh = aBig - (aBig - a);
  const aLow = a - aHigh;
  const bBig = SPLITTER * b;
  const bHigh = bBig - (bBig - b);
  const bLow = b - bHigh;
  return aLow * bLow - (product - aHigh * bHigh - aLow * bHigh - aHigh * bLow);
}

/**
 * A number with the exact sign of `u2 * v1 - u1 * v2`.
 *
 * Rounding is monotonic: where the two rounded products differ, the exact ones differ the same way. Only where they are
 * equal do the rounding errors decide, and those can be computed exactly.
 */
export function crossSign(u1: number, v1: number, u2: number, v2: number): number {
  const left = u2 * v1;
  const right = u1 * v2;
  if (left !== right) return left - right;
  if (left === 0) return 0;
  return productError(u2, v1, left) - productError(u1, v2, right);
}
