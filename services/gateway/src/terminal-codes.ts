import { type Directory, isSecret, type TerminalId, type Vehicle } from '@outrider/domain';
import type { TerminalCodes } from '@outrider/protocols';

/** Verifies the codes of JT/T 808 terminals by the vehicles in the directory. */
export function terminalCodes(directory: Directory): TerminalCodes {
  const vehicleOf = (forms: readonly TerminalId[]): Vehicle | undefined => {
    const form = forms.find((each) => directory.vehicleOfTerminal(each) !== undefined);
    return form === undefined ? undefined : directory.vehicleOfTerminal(form);
  };
  return {
    isNeeded(forms) {
      const access = vehicleOf(forms)?.terminalAccess;
      if (access === undefined) return false;
      return access.secretHash !== null || (access.protocol !== 'any' && access.registrationHash !== null);
    },
    isRight(forms, shown, derived) {
      const secretHash = vehicleOf(forms)?.terminalAccess.secretHash ?? null;
      return secretHash === null ? shown === derived : isSecret(secretHash, shown);
    },
    mayIssue(forms, registration) {
      const access = vehicleOf(forms)?.terminalAccess;
      if (access === undefined || access.protocol === 'any') return access?.secretHash == null;
      if (access.secretHash !== null) return false;
      return access.registrationHash === null || isSecret(access.registrationHash, registration);
    },
  };
}
