import { Icon, type IconName } from './icon.tsx';

interface Props {
  icon: IconName;
  label: string;
  isPressed?: boolean;
  onClick: () => void;
}

/** A button among the `.tools` of a map. */
export function MapTool({ icon, label, isPressed, onClick }: Props) {
  return (
    <button type="button" class="icon" aria-label={label} title={label} aria-pressed={isPressed} onClick={onClick}>
      <Icon name={icon} />
    </button>
  );
}
