/** In search order: most browsers also claim to be Safari and Chrome. */
const BROWSERS = [
  ['Edg', 'Edge'],
  ['OPR', 'Opera'],
  ['SamsungBrowser', 'Samsung Internet'],
  ['Firefox', 'Firefox'],
  ['Chrome', 'Chrome'],
  ['Safari', 'Safari'],
] as const;
const SYSTEMS = [
  ['Android', 'Android'],
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Windows', 'Windows'],
  ['Mac OS', 'macOS'],
  ['Linux', 'Linux'],
] as const;

/** Common name of a browser, such as `Firefox, Windows`. */
export function browserName(userAgent: string): string {
  const found = [BROWSERS, SYSTEMS].map((list) => list.find(([mark]) => userAgent.includes(mark))?.[1]);
  return found.filter((each) => each !== undefined).join(', ') || 'Browser';
}
