import type { TerminalId, Vehicle } from '@outrider/domain';
import type { SessionOptions, TerminalCodes } from '@outrider/protocols';

interface SessionParts {
  terminalSecret: string;
  codes: TerminalCodes;
  vehicleOf(terminalId: TerminalId): Vehicle | undefined;
}

/** Options of the gateway for every session. */
export function sessionOptions({ terminalSecret, codes, vehicleOf }: SessionParts): SessionOptions {
  return {
    secret: terminalSecret,
    codes,
    modelOf: (forms) => {
      for (const form of forms) {
        const vehicle = vehicleOf(form);
        if (vehicle !== undefined) return vehicle.deviceModel;
      }
      return null;
    },
  };
}
