import { driverWords } from '../../drivers/words.ts';
import { fleet } from '../../fleet/store.ts';
import { Icon } from '../../parts/icon.tsx';
import { keepsAccounts } from '../../rights.ts';
import { user } from '../../session.ts';

/** The current driver of the vehicle, or what to do if the driver is unknown. */
export function DriverLine({ vehicleId }: { vehicleId: string }) {
  void fleet.watchedVersion.value;
  const driving = fleet.drivingOf(vehicleId);
  const words = driverWords();
  const mayAssign = Boolean(user.value && keepsAccounts(user.value));
  const { driver = null, code = null } = driving ?? {};
  if (driver === null && code === null && !mayAssign) return null;
  return (
    <p class="driver-line">
      <Icon name="driver" />
      {driver !== null ? (
        <a href={`/drivers?driver=${driver.id}`}>
          <bdi>{driver.name}</bdi>
        </a>
      ) : (
        <span>{code === null ? words.nobody : words.unknownCode(code)}</span>
      )}
      {mayAssign && driver === null && code !== null && (
        <a class="button" href={`/drivers?view=codes&code=${encodeURIComponent(code)}`}>
          {words.giveCode}
        </a>
      )}
      {mayAssign && (
        <a class="button" href={`/drivers?view=assignments&assign=1&vehicle=${vehicleId}`}>
          {words.assign}
        </a>
      )}
    </p>
  );
}
