import { alerts, askPermission, permission, tryAlerts } from '../../alerts.ts';
import { Icon } from '../../parts/icon.tsx';
import { toast } from '../../parts/toast.tsx';
import { t } from '../../words/words.ts';
import { ruleWords } from '../rules/words.ts';

/** Sound and notifications of this browser. */
export function AlertSettings() {
  const words = ruleWords();
  const { sound, browser } = alerts.value;
  const state = permission.value;
  const tryOut = () => {
    toast(words.alertTest, 'info', '/notifications');
    tryAlerts(t().pages.notifications, words.alertTest);
  };
  return (
    <details class="alerts">
      <summary>{words.alerts}</summary>
      <label class="check">
        <input
          type="checkbox"
          checked={sound}
          onChange={(event) => (alerts.value = { ...alerts.peek(), sound: event.currentTarget.checked })}
        />
        <span>{words.sound}</span>
      </label>
      {state === 'granted' && (
        <label class="check">
          <input
            type="checkbox"
            checked={browser}
            onChange={(event) => (alerts.value = { ...alerts.peek(), browser: event.currentTarget.checked })}
          />
          <span>
            {words.browserNotifications} <small>{words.browserNotificationsHint}</small>
          </span>
        </label>
      )}
      {state === 'denied' && <p>{words.browserNotificationsBlocked}</p>}
      <div class="actions">
        {state === 'default' && (
          <button type="button" onClick={() => void askPermission()}>
            <Icon name="bell" /> {words.allowBrowserNotifications}
          </button>
        )}
        <button type="button" onClick={tryOut}>
          <Icon name="play" /> {words.tryAlert}
        </button>
      </div>
    </details>
  );
}
