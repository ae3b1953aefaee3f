/** A map of another server, which the browser requests directly. */
export interface OnlineMap {
  kind: 'raster' | 'vector' | 'style';
  /** URL of the style, or of the tiles as a template with `{z}`, `{x}` and `{y}`. */
  url: string;
  attribution: string | null;
  /** The only other origin that the console may request. */
  origin: string;
}

const VECTOR = /\.(?:pbf|mvt)(?:$|\?)/;

/**
 * @returns null: neither setting is set
 * @throws {RangeError} naming the setting that is wrong
 */
export function onlineMapOf(settings: {
  MAP_TILES_URL: string | null;
  MAP_STYLE_URL: string | null;
  MAP_ATTRIBUTION: string | null;
}): OnlineMap | null {
  const { MAP_TILES_URL: tiles, MAP_STYLE_URL: style, MAP_ATTRIBUTION: attribution } = settings;
  if (tiles !== null && style !== null) throw new RangeError('set MAP_TILES_URL or MAP_STYLE_URL, not both');
  if (style !== null) return { kind: 'style', url: style, attribution, origin: originOf('MAP_STYLE_URL', style) };
  if (tiles === null) return null;
  const origin = originOf('MAP_TILES_URL', tiles);
  for (const part of ['{z}', '{x}', '{y}'])
    if (!tiles.includes(part)) throw new RangeError(`MAP_TILES_URL must have ${part} where a tile has its number`);
  return { kind: VECTOR.test(tiles) ? 'vector' : 'raster', url: tiles, attribution, origin };
}

function originOf(setting: string, url: string): string {
  const parsed = URL.parse(url);
  const isWeb = parsed?.protocol === 'https:' || parsed?.protocol === 'http:';
  if (parsed === null || !isWeb || /[{}]/.test(parsed.host)) throw new RangeError(`${setting} must be an http(s) URL`);
  return parsed.origin;
}
