import { canOperate, type OperatorRight } from '@svc/contracts';
import { OPERATOR_PATH } from '../layout/layout.js';
import type { OperatorViewer } from '../viewer/viewer.js';

/** The sections of the pages of operators, in the order of their menu, with the right that each needs. */
const SECTIONS = [
  { name: 'home', path: OPERATOR_PATH, right: 'view' },
  { name: 'cases', path: `${OPERATOR_PATH}/cases`, right: 'view' },
  { name: 'reconciliations', path: `${OPERATOR_PATH}/reconciliations`, right: 'view' },
  { name: 'services', path: `${OPERATOR_PATH}/services`, right: 'view' },
  { name: 'merchants', path: `${OPERATOR_PATH}/merchants`, right: 'view' },
  { name: 'partners', path: `${OPERATOR_PATH}/partners`, right: 'view' },
  { name: 'auditLog', path: `${OPERATOR_PATH}/audit-log`, right: 'view' },
] as const satisfies readonly {
  name: string;
  path: string;
  right: OperatorRight;
}[];

export type OperatorSection = (typeof SECTIONS)[number];
export type OperatorSectionName = OperatorSection['name'];

/** The sections that the operator may open. */
export function listOperatorSections({ operatorRole }: Pick<OperatorViewer, 'operatorRole'>): OperatorSection[] {
  return SECTIONS.filter(({ right }) => canOperate(operatorRole, right));
}
