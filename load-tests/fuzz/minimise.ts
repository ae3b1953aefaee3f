/**
 * The smallest input found in time that still fails like the given one. It removes ranges of bytes, the longest first,
 * then replaces the remaining bytes with zeros.
 *
 * @param fails whether an input still fails
 */
export async function minimise(
  input: Buffer,
  fails: (candidate: Buffer) => boolean | Promise<boolean>,
  forMs: number,
): Promise<Buffer> {
  const until = performance.now() + forMs;
  let best = input;
  for (let piece = Math.ceil(best.length / 2); piece >= 1; piece = piece === 1 ? 0 : Math.ceil(piece / 2)) {
    for (let at = 0; at < best.length; ) {
      if (performance.now() > until) return best;
      const candidate = Buffer.concat([best.subarray(0, at), best.subarray(at + piece)]);
      if (await fails(candidate)) best = candidate;
      else at += piece;
    }
  }
  for (let at = 0; at < best.length; at++) {
    if (performance.now() > until) return best;
    if (best[at] === 0) continue;
    const candidate = Buffer.from(best);
    candidate[at] = 0;
    if (await fails(candidate)) best = candidate;
  }
  return best;
}
