import type { GeoJSONSource, Map as MapLibreMap } from 'maplibre-gl';

export function setData(map: MapLibreMap, source: string, data: GeoJSON.FeatureCollection): void {
  (map.getSource(source) as GeoJSONSource | undefined)?.setData(data);
}
