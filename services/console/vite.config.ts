import { join } from 'node:path';
import { defineConfig } from 'vite';

/** Where `npm run dev -w @outrider/console` sends what is not of the console: a service that runs. */
const SERVICE = process.env.OUTRIDER_URL ?? 'http://localhost:8080';

export default defineConfig({
  root: import.meta.dirname,
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2023',
    // Styles and pictures within the page would need a wider content security policy.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1500,
    modulePreload: { polyfill: false },
    // Servers know the type of `.js`; MapLibre's worker comes as `.mjs`.
    rolldownOptions: {
      input: {
        index: join(import.meta.dirname, 'index.html'),
        // Of share links.
        share: join(import.meta.dirname, 'share.html'),
        // A service worker keeps its address, else browsers would keep the old one for good.
        sw: join(import.meta.dirname, 'src/installed/service-worker.ts'),
      },
      output: {
        entryFileNames: ({ name }) => (name === 'sw' ? 'sw.js' : 'assets/[name]-[hash].js'),
        assetFileNames: ({ names }) =>
          names[0]?.endsWith('.mjs') ? 'assets/[name]-[hash].js' : 'assets/[name]-[hash][extname]',
      },
    },
  },
  server: {
    proxy: Object.fromEntries(
      ['/api', '/auth', '/service', '/maps', '/docs']
        .map((path) => [path, { target: SERVICE }])
        .concat([['/live', { target: SERVICE, ws: true }]] as never),
    ),
  },
});
