import { render } from 'preact';
import './style/base.css';
import './style/layout.css';
import './style/parts.css';
import './style/shell.css';
import { followAccountPreferences } from './account-preferences.ts';
import { App } from './app.tsx';
import { keepFocus } from './focus.ts';
import { followVersions } from './installed/installed.ts';
import { followPreferences } from './preferences.ts';
import { startRouter } from './router.ts';
import { isView, VIEWS } from './screens.ts';
import { refreshUser } from './session.ts';
import { componentOf } from './views.ts';
import { followLanguage } from './words/words.ts';

// The documentation used to have its groups at the root: `/#/Vehicles/`.
if (location.hash.startsWith('#/')) location.replace(`/docs/${location.hash}`);

followPreferences();
followAccountPreferences();
followLanguage();
followVersions();
keepFocus();
startRouter(isView);
void refreshUser();
// Loads the screen while the service is asked for the logged-in user.
const first = VIEWS.find(({ path }) => path === location.pathname);
if (first) componentOf(first).begin();
const root = document.getElementById('app');
if (root) render(<App />, root);
