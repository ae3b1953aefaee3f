import { useSignal } from '@preact/signals';

/**
 * Props of a field of which the draft keeps what was read from its text, such as a list of addresses. The text stays as
 * it was typed until the field is left, whatever is rendered meanwhile; the draft follows each key.
 *
 * @param written the text of what the draft has
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
