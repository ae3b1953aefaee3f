import type { CliCommand } from '../command.ts';

export const loginCommands: CliCommand[] = [
  {
    name: 'login',
    summary: 'log in at OUTRIDER_URL with a password, and keep the login for later commands',
    operands: ['LOGIN'],
    async run({ operands: { LOGIN: login = '' }, session, terminal }) {
      const password = terminal.env.OUTRIDER_PASSWORD ?? (await terminal.ask(`Password of ${login}: `));
      await session.logIn(login, password);
      terminal.note(`logged in at ${session.url}`);
    },
  },
  {
    name: 'logout',
    summary: 'end the login and forget it',
    async run({ session, terminal }) {
      await session.logOut();
      terminal.note('logged out');
    },
  },
];
