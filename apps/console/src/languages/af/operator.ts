import type { operator as english } from '../en/operator.js';

/** Texts of the pages of operators, in Afrikaans. */
export const operator: typeof english = {
  operator: {
    title: 'Bedryf van die platform',
    menu: 'Kieslys van operateurs',
    sections: {
      home: 'Begin',
      cases: 'Oop sake',
      reconciliations: 'Rekonsiliasies',
      services: 'Dienste',
      merchants: 'Handelaars',
      partners: 'Vennote',
      auditLog: 'Ouditlog',
    },
    roles: { viewer: 'leser', operator: 'operateur' },
    youAre: 'Jy is {role}.',
    open: 'Bedryf van die platform',
  },
};
