import { render } from 'preact';
import './style/base.css';
import './style/layout.css';
import { followAccountPreferences } from './account-preferences.ts';
import { App } from './app.tsx';
import { followPreferences } from './preferences.ts';
import { startRouter } from './router.ts';
import { refreshUser } from './session.ts';
import { isView } from './views.ts';
import { followLanguage } from './words/words.ts';

// The documentation had its groups at the root: `/#/Vehicles/`.
if (location.hash.startsWith('#/')) location.replace(`/docs/${location.hash}`);

followPreferences();
followAccountPreferences();
followLanguage();
startRouter(isView);
void refreshUser();
const root = document.getElementById('app');
if (root) render(<App />, root);
