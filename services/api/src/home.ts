/** What a browser sees that was pointed at the service. */
export const HOME_PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Outrider</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 12vh auto; padding: 0 1rem; color: #1c2733; }
  code { background: #eef2f6; padding: .1em .3em; border-radius: .2em; }
  @media (prefers-color-scheme: dark) { body { background: #12181f; color: #dbe3ea; } code { background: #22303d; } a { color: #7db7ff; } }
</style>
<h1>Outrider</h1>
<p>Fleet telematics: from what vehicle terminals send to live events and a REST API. It is running.</p>
<ul>
  <li><a href="/openapi.json">The API, as OpenAPI 3.1</a></li>
  <li>Live positions and events: a WebSocket at <code>/live</code></li>
  <li><a href="/health/ready">How its parts are</a></li>
</ul>
</html>
`;
