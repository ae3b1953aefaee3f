/* global SwaggerUIBundle */
/* Starts Swagger UI. Everything comes from this service: no validator, no fonts, nothing from another origin. */

const dark = matchMedia('(prefers-color-scheme: dark)');
const followTheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followTheme);
followTheme();

const ui = SwaggerUIBundle({
  url: '../openapi.json',
  dom_id: '#documentation',
  // Links such as /docs/#/Users/ open their group.
  deepLinking: true,
  docExpansion: 'none',
  defaultModelsExpandDepth: 0,
  displayOperationId: true,
  displayRequestDuration: true,
  filter: true,
  tryItOutEnabled: true,
  validatorUrl: null,
  // The token stays in the page: it is gone when the page is.
  persistAuthorization: false,
  /** A login or refresh that succeeded authorizes the calls after it. */
  responseInterceptor(response) {
    const isLogin = /\/auth\/(?:login|refresh)(?:\?|$)/.test(response.url);
    if (isLogin && response.ok && response.body?.jwt) ui.preauthorizeApiKey('jwt', `JWT ${response.body.jwt}`);
    return response;
  },
});
