/** The roles of operators of the platform. A `viewer` reads everything, an `operator` also changes. */
export const OPERATOR_ROLES = ['viewer', 'operator'] as const;
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

/** The right that a page or a request of operators needs. */
export type OperatorRight = 'view' | 'change';

/**
 * Whether the role gives the right. A person without a role has none. An operator has no rights at merchants: those are
 * the person's own roles there.
 */
export function canOperate(role: OperatorRole | undefined, right: OperatorRight): boolean {
  return role === 'operator' || (role === 'viewer' && right === 'view');
}

export function isOperatorRole(value: unknown): value is OperatorRole {
  return OPERATOR_ROLES.includes(value as OperatorRole);
}
