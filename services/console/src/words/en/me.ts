export const me = {
  title: 'My account',
  account: 'Account',
  preferences: 'Preferences',
  passwordHint: 'Setting a new password ends all other sessions.',
  nameSaved: 'The name was saved.',
};
