import type { Right } from '@svc/contracts';
import { canAnywhere, type MerchantViewer } from '../viewer/viewer.js';

/** The sections of a merchant's pages, in the order of the menu, with the right that each needs at one site or more. */
const SECTIONS = [
  { name: 'today', path: '', right: 'payments.read' },
  { name: 'payments', path: '/payments', right: 'payments.read' },
  { name: 'requests', path: '/requests', right: 'sessions.read' },
  { name: 'settlements', path: '/settlements', right: 'settlements.read' },
  { name: 'disputes', path: '/disputes', right: 'disputes.read' },
  { name: 'developers', path: '/developers', right: 'deliveries.read' },
  { name: 'look', path: '/look', right: 'settings.read' },
  { name: 'team', path: '/team', right: 'people.read' },
] as const satisfies readonly { name: string; path: string; right: Right }[];

export type Section = (typeof SECTIONS)[number];
export type SectionName = Section['name'];

/** The sections that the person may open. */
export function listSections(viewer: MerchantViewer): Section[] {
  return SECTIONS.filter(({ right }) => canAnywhere(viewer, right));
}
