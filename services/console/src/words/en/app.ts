export const app = {
  newVersion: 'A new version is available.',
  reload: 'Reload',
  install: 'Install as an app',
};
