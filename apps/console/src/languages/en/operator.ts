/** Texts of the pages of operators, in English. */
export const operator = {
  operator: {
    title: 'Operation of the platform',
    menu: 'Menu of operators',
    sections: { home: 'Start' },
    roles: { viewer: 'viewer', operator: 'operator' },
    youAre: 'You are {role}.',
    open: 'Operation of the platform',
  },
};
