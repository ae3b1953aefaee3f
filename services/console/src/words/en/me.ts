export const me = {
  title: 'My account',
  account: 'Account',
  preferences: 'Preferences',
  passwordHint: 'All other sessions end with a new password.',
  nameSaved: 'The name was saved.',
};
