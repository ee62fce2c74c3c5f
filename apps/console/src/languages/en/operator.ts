/** Texts of the pages of operators, in English. */
export const operator = {
  operator: {
    title: 'Operation of the platform',
    menu: 'Menu of operators',
    sections: {
      home: 'Start',
      cases: 'Open cases',
      reconciliations: 'Reconciliations',
      services: 'Services',
      merchants: 'Merchants',
      partners: 'Partners',
      auditLog: 'Audit log',
    },
    roles: { viewer: 'viewer', operator: 'operator' },
    youAre: 'You are {role}.',
    open: 'Operation of the platform',
  },
};
