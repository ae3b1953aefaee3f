import type { CliCommand } from '../command.ts';

export const loginCommands: CliCommand[] = [
  {
    name: 'login',
    summary: 'log in at OUTRIDER_URL with a password and store the login for later commands',
    operands: ['LOGIN'],
    async run({ operands: { LOGIN: login = '' }, session, terminal }) {
      const password = terminal.env.OUTRIDER_PASSWORD ?? (await terminal.ask(`Password of ${login}: `));
      await session.logIn(login, password);
      terminal.note(`logged in at ${session.url}`);
    },
  },
  {
    name: 'logout',
    summary: 'log out and delete the stored login',
    async run({ session, terminal }) {
      await session.logOut();
      terminal.note('logged out');
    },
  },
];
