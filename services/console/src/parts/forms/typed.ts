import { useSignal } from '@preact/signals';

/**
 * Props of a field whose draft holds the parsed value of its text, such as a list of addresses. The text stays as typed
 * until the field loses the focus, even if the field is rendered again. The draft is updated with each key.
 *
 * @param written text for the draft's value
 */
export function useTyped(written: string, onText: (text: string) => void) {
  const typed = useSignal<string | null>(null);
  return {
    value: typed.value ?? written,
    onInput: ({ currentTarget: { value } }: { currentTarget: { value: string } }) => {
      typed.value = value;
      onText(value);
    },
    onBlur: () => {
      typed.value = null;
    },
  };
}
