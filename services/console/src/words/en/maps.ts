export const maps = {
  map: 'Map',
  world: 'World (offline)',
  online: 'Online map',
  measure: 'Measure a distance',
  measureHint: 'Click points on the map',
  failed: 'The chosen map can’t be shown. The world map is shown instead.',
};
