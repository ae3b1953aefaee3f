import { render } from 'preact';
import '../style/base.css';
import '../style/layout.css';
import '../style/shared.css';
import { followPreferences } from '../preferences.ts';
import { followLanguage } from '../words/words.ts';
import { SharedPage } from './page.tsx';
import { SharedView } from './shared-view.ts';

/** The page of a share link: without a login, it shows the data of `/s/{token}/data`. */
followPreferences();
followLanguage();
const view = new SharedView(location.pathname);
view.start();
const root = document.getElementById('app');
if (root) render(<SharedPage view={view} />, root);
